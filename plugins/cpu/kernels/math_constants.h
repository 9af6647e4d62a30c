// Polynomials and tables of the vector functions, lowest terms first: written by
// tools/make_math_constants.py, which says how they are chosen.
#pragma once

namespace Atoll::kernels::vector_math {

// A sum.
template <class T> struct Split { T head, tail; };

template <class T> struct Constants;

template <> struct Constants<float> {
    static constexpr Split<float> ln_2 = {0x1.62e43p-1f, -0x1.05c61p-29f};
    static constexpr Split<float> ln_10 = {0x1.26bb1cp+1f, -0x1.12aabap-25f};
    static constexpr Split<float> log2_e = {0x1.715476p+0f, 0x1.4ae0cp-26f};
    static constexpr Split<float> log10_e = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
    static constexpr Split<float> log2_10 = {0x1.a934fp+1f, 0x1.2f346ep-24f};
    static constexpr Split<float> ln_2_short = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
    static constexpr Split<float> log10_2_short = {0x1.344p-2f, 0x1.3509f8p-18f};
    // (e^r - 1 - r - r^2 / 2) / r^3 for |r| <= ln(2) / 2
    static constexpr float exp_tail[] = {0x1.555556p-3f, 0x1.555518p-5f, 0x1.1110f6p-7f,
                                         0x1.6d117cp-10f, 0x1.a0f8d4p-13f};
    // The same for |r| <= 0.45
    static constexpr float expm1_tail[] = {0x1.555556p-3f,  0x1.555556p-5f,  0x1.111086p-7f,
                                           0x1.6c1654p-10f, 0x1.a1de56p-13f, 0x1.a183bep-16f};
    // (sinh(r) - r) / r^3 in r^2
    static constexpr float sinh_tail[] = {0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a12528p-13f};
    // (cosh(r) - 1) / r^2 in r^2
    static constexpr float cosh_tail[] = {0x1p-1f, 0x1.5554e8p-5f, 0x1.6d4362p-10f};
    // c, and -log(c) to three bases: multiples of a power of two, and the rest
    static constexpr float inverses[] = {0x1.6p+0f,  0x1.58p+0f, 0x1.48p+0f, 0x1.38p+0f,
                                         0x1.3p+0f,  0x1.28p+0f, 0x1.18p+0f, 0x1.1p+0f,
                                         0x1.08p+0f, 0x1p+0f,    0x1.ep-1f,  0x1.c8p-1f,
                                         0x1.bp-1f,  0x1.98p-1f, 0x1.88p-1f, 0x1.7p-1f};
    static constexpr float ln_heads[] = {-0x1.4618p-2f, -0x1.2e9p-2f,  -0x1.fb9p-3f, -0x1.9528p-3f,
                                         -0x1.5ffp-3f,  -0x1.2958p-3f, -0x1.6f1p-4f, -0x1.f0ap-5f,
                                         -0x1.f84p-6f,  0x0p+0f,       0x1.086p-4f,  0x1.da7p-4f,
                                         0x1.5bf8p-3f,  0x1.d1p-3f,    0x1.1178p-2f, 0x1.522cp-2f};
    static constexpr float ln_tails[] = {
        -0x1.78438cp-19f, 0x1.d451eep-18f, -0x1.86d5e4p-19f, 0x1.2b185ep-18f,
        -0x1.83853cp-18f, 0x1.683fp-18f,   0x1.6ba8d4p-19f,  -0x1.86008cp-20f,
        0x1.64f188p-18f,  0x0p+0f,         -0x1.9d2988p-18f, 0x1.3b1c22p-19f,
        -0x1.fca55ep-18f, 0x1.bf932ap-18f, 0x1.d044fcp-19f,  -0x1.1f8c76p-18f};
    static constexpr float log2_heads[] = {
        -0x1.d674p-2f, -0x1.b48p-2f, -0x1.6e24p-2f, -0x1.244p-2f, -0x1.fbcp-3f, -0x1.acf8p-3f,
        -0x1.08c8p-3f, -0x1.664p-4f, -0x1.6bap-5f,  0x0p+0f,      0x1.7d6p-4f,  0x1.564p-3f,
        0x1.f6p-3f,    0x1.4f7p-2f,  0x1.8a88p-2f,  0x1.e7ep-2f};
    static constexpr float log2_tails[] = {
        -0x1.3e032ep-18f, 0x1.408c78p-18f,  0x1.e3263p-18f,  -0x1.eac382p-20f,
        -0x1.6b9026p-19f, 0x1.0e9258p-18f,  0x1.3b992cp-18f, 0x1.20a6dep-21f,
        -0x1.a6eb1ep-18f, 0x0p+0f,          0x1.25b3eep-22f, -0x1.1eb002p-18f,
        -0x1.3ab7cep-18f, -0x1.134c4ep-20f, 0x1.80abfcp-18f, -0x1.40358ep-19f};
    static constexpr float log10_heads[] = {
        -0x1.1b4p-3f, -0x1.06c8p-3f, -0x1.b8ep-4f, -0x1.5ffp-4f, -0x1.31bp-4f, -0x1.024p-4f,
        -0x1.3eep-5f, -0x1.af4p-6f,  -0x1.b6p-7f,  0x0p+0f,      0x1.cb4p-6f,  0x1.9c2p-5f,
        0x1.2e4p-4f,  0x1.93ep-4f,   0x1.db1p-4f,  0x1.25b8p-3f};
    static constexpr float log10_tails[] = {
        0x1.8e136cp-19f,  -0x1.eb3d36p-18f, 0x1.b2c54cp-20f,  0x1.feddd4p-18f,
        -0x1.82ae24p-19f, -0x1.460f84p-19f, 0x1.dcccb4p-18f,  -0x1.f92bp-18f,
        0x1.6f714ep-19f,  0x0p+0f,          -0x1.c0cc9ep-20f, -0x1.a1504p-19f,
        -0x1.62fd22p-18f, 0x1.f783fp-18f,   0x1.ed766ap-20f,  0x1.410ad8p-18f};
    // (log(1 + r) - r) / r^2 to the base of ln
    static constexpr float ln_tail[] = {-0x1p-1f, 0x1.555552p-2f, -0x1.ffff8ap-3f, 0x1.99fc86p-3f,
                                        -0x1.57d494p-3f};
    // (log(1 + r) - r) / r^2 to the base of log2
    static constexpr float log2_tail[] = {-0x1.715476p-1f, 0x1.ec7098p-2f, -0x1.71542p-2f,
                                          0x1.27be22p-2f, -0x1.f00adap-3f};
    // (log(1 + r) - r) / r^2 to the base of log10
    static constexpr float log10_tail[] = {-0x1.bcb7b2p-3f, 0x1.287a74p-3f, -0x1.bcb74ap-4f,
                                           0x1.641c14p-4f, -0x1.2aa5b4p-4f};
    // -2 (log(1 + r) - r + r^2 / 2) / r^3
    static constexpr float ln_rest[] = {-0x1.555554p-1f, 0x1.ffffc2p-2f, -0x1.99e90ep-2f,
                                        0x1.575458p-2f};
    // 2^(i / 16), and what it has lost, divided by it
    static constexpr float sixteenths[] = {
        0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
        0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
        0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
        0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
    static constexpr float sixteenths_lost[] = {
        0x0p+0f,          0x1.8d96d4p-25f,  -0x1.9c0c22p-27f, 0x1.964904p-25f,
        0x1.125002p-25f,  0x1.370be4p-25f,  -0x1.0a355p-25f,  -0x1.00d8acp-27f,
        0x1.26055cp-26f,  -0x1.05cb44p-25f, 0x1.67a1cap-28f,  0x1.a3b5e4p-28f,
        -0x1.f9c304p-27f, -0x1.6961b4p-28f, -0x1.a5217cp-28f, 0x1.61428ep-28f};
    // (2^f - 1) / f for |f| <= 1/32
    static constexpr float sixteenth[] = {0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6b348p-5f,
                                          0x1.3b2bfap-7f};
    // pi / 2
    static constexpr float quarter[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
    static constexpr float quarters = 0x1.45f306p-1f;
    // (sin(r) - r) / r^3 in r^2, |r| <= pi / 4
    static constexpr float sin_tail[] = {-0x1.555556p-3f, 0x1.11110ep-7f, -0x1.a013a6p-13f,
                                         0x1.6dbdd2p-19f};
    // (cos(r) - 1 + r^2 / 2) / r^4 in r^2
    static constexpr float cos_tail[] = {0x1.555554p-5f, -0x1.6c12d2p-10f, 0x1.9bd864p-16f};
    static constexpr Split<float> eighth = {0x1.922p-1f, -0x1.2aeef4p-19f};
    // (atan(q) - q) / q^3 in q^2, |q| <= 1/2
    static constexpr float atan_tail[] = {-0x1.555556p-2f, 0x1.9998f2p-3f,  -0x1.24733ep-3f,
                                          0x1.c2d66cp-4f,  -0x1.514dfcp-4f, 0x1.5a176ep-5f};
    // ((1 - e)^(-1/3) - 1) / e for |e| <= 0.103
    static constexpr float inverse_cbrt[] = {0x1.555556p-2f, 0x1.c979p-3f, 0x1.6405c6p-3f};
    // tanh by intervals: c, f(c) and the coefficients of p
    static constexpr float tanh_centers[] = {
        0x0p+0f,        0x1.60172p-1f,  0x1.a00b6p-1f,  0x1.e0186p-1f,
        0x1.20038p+0f,  0x1.60064p+0f,  0x1.9fff1p+0f,  0x1.dfe98p+0f,
        0x1.1ffdc8p+1f, 0x1.60023p+1f,  0x1.a00a88p+1f, 0x1.e003bp+1f,
        0x1.2000dcp+2f, 0x1.6005f4p+2f, 0x1.9ff9cp+2f,  0x1.03fcep+3f};
    static constexpr float tanh_values[] = {
        0x0p+0f,        0x1.3166c6p-1f, 0x1.578f4p-1f,  0x1.77e376p-1f,
        0x1.9e5f2p-1f,  0x1.c27b78p-1f, 0x1.d9c6b6p-1f, 0x1.e87494p-1f,
        0x1.f4bf74p-1f, 0x1.fbd52ep-1f, 0x1.fe76bap-1f, 0x1.ff6f2p-1f,
        0x1.ffdfa8p-1f, 0x1.fffbap-1f,  0x1.ffff68p-1f, 0x1.fffffap-1f};
    static constexpr float tanh_coefficients[8][16] = {
        {-0x1.805aaep-32f, 0x1.49d4fap-1f, 0x1.19776ap-1f, 0x1.d813d2p-2f, 0x1.614832p-2f,
         0x1.ce9366p-3f, 0x1.266032p-3f, 0x1.700d5ap-4f, 0x1.641c9ep-5f, 0x1.099ea4p-6f,
         0x1.88aef6p-8f, 0x1.219704p-9f, 0x1.02b7d6p-11f, 0x1.17fec2p-14f, 0x1.2f9b4p-17f,
         0x1.78b3f8p-22f},
        {0x1.5566f6p-24f, -0x1.897b28p-2f, -0x1.79bc7ep-2f, -0x1.5a943ep-2f, -0x1.1deb02p-2f,
         -0x1.96ff18p-3f, -0x1.10661ep-3f, -0x1.5f2088p-4f, -0x1.5c491cp-5f, -0x1.07753p-6f,
         -0x1.878156p-8f, -0x1.214512p-9f, -0x1.02a77ep-11f, -0x1.17fc5ep-14f, -0x1.2f9ae6p-17f,
         -0x1.78b52ep-22f},
        {-0x1.555664p-2f, 0x1.da30f2p-7f, 0x1.074a14p-4f, 0x1.84566ep-4f, 0x1.c68daep-4f,
         0x1.97ce72p-4f, 0x1.33dffep-4f, 0x1.a897acp-5f, 0x1.bbdad4p-6f, 0x1.598c0cp-7f,
         0x1.036fa2p-8f, 0x1.80d71ap-10f, 0x1.58b418p-12f, 0x1.754a82p-15f, 0x1.94ce08p-18f,
         0x1.f692aap-23f},
        {0x1.64f142p-14f, 0x1.e9490ap-4f, 0x1.46fa32p-4f, 0x1.620256p-5f, 0x1.ab0ad2p-9f,
         -0x1.5de83ap-6f, -0x1.9d2a04p-6f, -0x1.55f71ap-6f, -0x1.93d1e4p-7f, -0x1.4e313p-8f,
         -0x1.004fdp-9f, -0x1.7f22fap-11f, -0x1.585cc2p-13f, -0x1.753d86p-16f, -0x1.94cbdep-19f,
         -0x1.f663f2p-24f},
        {0x1.0f3fc2p-3f, -0x1.f9f24ap-5f, -0x1.01219ep-4f, -0x1.b2dd9ep-5f, -0x1.05d67p-5f,
         -0x1.334a3cp-7f, 0x1.8272b4p-10f, 0x1.2f945cp-8f, 0x1.056b4p-8f, 0x1.f2e24cp-10f,
         0x1.902622p-11f, 0x1.2fc86ap-12f, 0x1.12d63ap-14f, 0x1.2a6338p-17f, 0x1.43b064p-20f,
         0x1.8d32cep-25f},
        {0x1.479478p-8f, -0x1.7968f4p-7f, 0x1.df839ep-8f, 0x1.1748ecp-6f, 0x1.305c48p-6f,
         0x1.66eep-7f, 0x1.0bc8eep-8f, 0x1.4bf2bep-11f, -0x1.82e304p-11f, -0x1.1dce5p-11f,
         -0x1.fb372cp-13f, -0x1.8dd04p-14f, -0x1.6d0fc6p-16f, -0x1.8db2bp-19f, -0x1.afa28ep-22f,
         -0x1.0a155ap-26f},
        {-0x1.1dd3c4p-4f, 0x1.b024a2p-6f, 0x1.0acb16p-6f, 0x1.9f207ep-8f, -0x1.4f5c56p-9f,
         -0x1.37756p-8f, -0x1.7d50f4p-9f, -0x1.38ac42p-10f, -0x1.c58198p-14f, 0x1.b93e6p-14f,
         0x1.04b1bp-14f, 0x1.b88b98p-16f, 0x1.a90d82p-18f, 0x1.d2d608p-21f, 0x1.fb33bp-24f,
         0x1.600584p-28f},
        {0x1.c153b6p-6f, -0x1.134d0cp-7f, -0x1.615ce2p-7f, -0x1.1afc84p-7f, -0x1.bf5a12p-9f,
         0x1.f595bap-12f, 0x1.11a3e6p-10f, 0x1.4ec4d4p-11f, 0x1.521336p-13f, -0x1.427da6p-19f,
         -0x1.91e542p-17f, -0x1.96b28cp-18f, -0x1.9fa366p-20f, -0x1.cf8336p-23f, -0x1.f7e912p-26f,
         -0x1.563a02p-30f}};
    // erf by intervals: c, f(c) and the coefficients of p
    static constexpr float erf_centers[] = {
        0x0p+0f,       0x1.5ff4cp-1f, 0x1.a00e8p-1f,  0x1.e0106p-1f, 0x1.1fe95p+0f, 0x1.60092p+0f,
        0x1.9ff79p+0f, 0x1.e0174p+0f, 0x1.1ffc88p+1f, 0x1.5ffd3p+1f, 0x1.a00c8p+1f, 0x1.dff38p+1f,
        0x0p+0f,       0x0p+0f,       0x0p+0f,        0x0p+0f};
    static constexpr float erf_values[] = {
        0x0p+0f,        0x1.568a5ap-1f, 0x1.7fc234p-1f, 0x1.a15cc6p-1f,
        0x1.c6cc6p-1f,  0x1.e579a8p-1f, 0x1.f4f538p-1f, 0x1.fbe7aep-1f,
        0x1.ff402ep-1f, 0x1.fff2cep-1f, 0x1.ffff7p-1f,  0x1.fffffcp-1f,
        0x0p+0f,        0x0p+0f,        0x0p+0f,        0x0p+0f};
    static constexpr float erf_coefficients[8][16] = {
        {0x1.06eba8p-3f, 0x1.682ad4p-1f, 0x1.2a8012p-1f, 0x1.dfad62p-2f, 0x1.462a9cp-2f,
         0x1.5cc364p-3f, 0x1.49c098p-4f, 0x1.12712ap-5f, 0x1.d44d52p-8f, 0x1.3385f4p-11f,
         0x1.e87f6ap-16f, 0x1.da9216p-21f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {0x1.8a8c6cp-22f, -0x1.ef2b1p-2f, -0x1.e52104p-2f, -0x1.c1c1e4p-2f, -0x1.6ed308p-2f,
         -0x1.df9918p-3f, -0x1.0be70cp-3f, -0x1.01568ep-4f, -0x1.076852p-6f, -0x1.a6d4dp-10f,
         -0x1.8cf376p-14f, -0x1.bcdd78p-19f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {-0x1.812a9p-2f, -0x1.a60236p-7f, 0x1.fe82a8p-5f, 0x1.e4f93cp-4f, 0x1.4c9f76p-3f,
         0x1.436bfp-3f, 0x1.d67df8p-4f, 0x1.13fe3ep-4f, 0x1.64113p-6f, 0x1.69f4aap-9f,
         0x1.99badcp-13f, 0x1.0c2362p-17f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {0x1.5b5ffp-13f, 0x1.532d76p-3f, 0x1.0f9044p-3f, 0x1.74509ap-4f, 0x1.cc0dd8p-6f,
         -0x1.f4122cp-6f, -0x1.97492p-5f, -0x1.5a06bep-5f, -0x1.38c12ep-6f, -0x1.ab33bcp-9f,
         -0x1.2bdcf2p-12f, -0x1.d19dacp-17f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {0x1.c9b57p-4f, -0x1.5565c4p-5f, -0x1.fa3bb4p-5f, -0x1.1d20e8p-4f, -0x1.f6a07ap-5f,
         -0x1.f5272p-6f, -0x1.19584ep-9f, 0x1.77e362p-7f, 0x1.5d5966p-7f, 0x1.695e3p-9f,
         0x1.4847p-12f, 0x1.34725cp-16f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {0x1.06ac2p-8f, -0x1.1b8fdcp-5f, -0x1.3116bap-6f, -0x1.456c9p-9f, 0x1.fc5638p-7f,
         0x1.6b10e8p-6f, 0x1.d88752p-7f, 0x1.0c3ec2p-8f, -0x1.7c9a1cp-9f, -0x1.b2a114p-10f,
         -0x1.13d5e4p-12f, -0x1.43e35ap-16f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {-0x1.213c8p-5f, 0x1.117396p-6f, 0x1.376bdp-6f, 0x1.1a1cfp-6f, 0x1.3af856p-7f,
         -0x1.685f88p-10f, -0x1.925e58p-8f, -0x1.41fa7p-8f, -0x1.77cbe8p-11f, 0x1.4dfc3cp-11f,
         0x1.6ab38cp-13f, 0x1.1e975p-16f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f},
        {0x1.4206f6p-7f, 0x1.2978d6p-8f, 0x1.1224fp-13f, -0x1.ca71cap-9f, -0x1.88e696p-8f,
         -0x1.1692a4p-8f, -0x1.34296cp-11f, 0x1.73d76cp-10f, 0x1.059518p-10f, -0x1.588842p-14f,
         -0x1.578c9ep-14f, -0x1.806e64p-17f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f}};
};
template <> struct Constants<double> {
    static constexpr Split<double> ln_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    static constexpr Split<double> ln_10 = {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53};
    static constexpr Split<double> log2_e = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
    static constexpr Split<double> log10_e = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
    static constexpr Split<double> log2_10 = {0x1.a934f0979a371p+1, 0x1.7f2495fb7fa6dp-53};
    static constexpr Split<double> ln_2_short = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
    static constexpr Split<double> log10_2_short = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44};
    // (e^r - 1 - r - r^2 / 2) / r^3 for |r| <= ln(2) / 2
    static constexpr double exp_tail[] = {
        0x1.5555555555556p-3,  0x1.5555555555555p-5,  0x1.11111111109a6p-7,  0x1.6c16c16c167dap-10,
        0x1.a01a01a7cebcdp-13, 0x1.a01a01a48116fp-16, 0x1.71de0d85293b8p-19, 0x1.27e4e1dcf773bp-22,
        0x1.af390ba7e6f47p-26, 0x1.1f6717774d5ep-29};
    // The same for |r| <= 0.45
    static constexpr double expm1_tail[] = {
        0x1.5555555555555p-3,  0x1.555555555555cp-5,  0x1.1111111111113p-7,  0x1.6c16c16c11fedp-10,
        0x1.a01a01a01777ep-13, 0x1.a01a01c0dca4fp-16, 0x1.71de3a66e42d5p-19, 0x1.27e49f738aa3bp-22,
        0x1.ae63f45eb9a6dp-26, 0x1.1fcfa4b8f1b6p-29,  0x1.62157eb17c6c6p-33};
    // (sinh(r) - r) / r^3 in r^2
    static constexpr double sinh_tail[] = {0x1.5555555555556p-3, 0x1.11111111109adp-7,
                                           0x1.a01a01a7c8d41p-13, 0x1.71de0d9c15d41p-19,
                                           0x1.af38d534dc1c4p-26};
    // (cosh(r) - 1) / r^2 in r^2
    static constexpr double cosh_tail[] = {0x1p-1,
                                           0x1.5555555555557p-5,
                                           0x1.6c16c16c15a5ap-10,
                                           0x1.a01a01a9ef9a7p-16,
                                           0x1.27e4d409439a6p-22,
                                           0x1.1f7f454dc2cb1p-29};
    // c, and -log(c) to three bases: multiples of a power of two, and the rest
    static constexpr double inverses[] = {
        0x1.64p+0, 0x1.54p+0, 0x1.48p+0, 0x1.3cp+0, 0x1.3p+0, 0x1.24p+0, 0x1.1cp+0, 0x1.1p+0,
        0x1.08p+0, 0x1p+0,    0x1.e8p-1, 0x1.c8p-1, 0x1.bp-1, 0x1.98p-1, 0x1.88p-1, 0x1.78p-1};
    static constexpr double ln_heads[] = {-0x1.51aad872ep-2,  -0x1.22941fbcf8p-2,
                                          -0x1.fb9186d5e4p-3, -0x1.af3c94e80cp-3,
                                          -0x1.5ff3070a78p-3, -0x1.0d77e7cd08p-3,
                                          -0x1.a926d3a4bp-4,  -0x1.f0a30c011p-5,
                                          -0x1.f829b0e78p-6,  0x0p+0,
                                          0x1.894aa14ap-5,    0x1.da72763848p-4,
                                          0x1.5bf406b544p-3,  0x1.d1037f2654p-3,
                                          0x1.1178e8227ep-2,  0x1.3c25277334p-2};
    static constexpr double ln_tails[] = {0x1.f4bd8db0a7cc1p-44,  0x1.a6976f5eb0963p-44,
                                          0x1.d572aab993c87p-47,  0x1.a4e633fcd9066p-52,
                                          -0x1.3d3c873e20a07p-43, -0x1.cb2cd2ee2f482p-44,
                                          0x1.54e4d7a16eab2p-43,  -0x1.8a9985f325c5cp-43,
                                          -0x1.980267c7e09e4p-45, 0x0p+0,
                                          -0x1.32f32ba0b44dp-43,  -0x1.caed7fc0b1d1ap-43,
                                          -0x1.27023eb68981cp-46, 0x1.e7b5818a49092p-43,
                                          0x1.1ef78ce2d07f2p-44,  -0x1.cf895693f2854p-43};
    static constexpr double log2_heads[] = {-0x1.e726aa1e76p-2, -0x1.a33760a7f6p-2,
                                            -0x1.6e221cd9dp-2,  -0x1.37124cea4cp-2,
                                            -0x1.fbc16b9028p-3, -0x1.84c2bd02fp-3,
                                            -0x1.32ae9e278cp-3, -0x1.663f6fac9p-4,
                                            -0x1.6bad3758fp-5,  0x0p+0,
                                            0x1.1bb32a6008p-4,  0x1.563dc29ffcp-3,
                                            0x1.f5fd8a9064p-3,  0x1.4f6fbb2cecp-2,
                                            0x1.8a8980abfcp-2,  0x1.c819dc2d46p-2};
    static constexpr double log2_tails[] = {0x1.65be75cc3da17p-43,  -0x1.4275f1035e5e8p-48,
                                            -0x1.9bcaf1aa4168ap-43, -0x1.bd9b32266d92cp-43,
                                            0x1.7f5dc57266758p-43,  -0x1.d97ee9124773bp-46,
                                            0x1.1e5e0ae0d3f8ap-43,  -0x1.3167ccc538261p-44,
                                            0x1.3c6764fc87b4ap-48,  0x0p+0,
                                            -0x1.5b1799ceaeb51p-43, -0x1.34df378df21adp-43,
                                            -0x1.cb6f70109b0f1p-47, 0x1.661e393a16b95p-44,
                                            -0x1.66cccab240e9p-45,  -0x1.bc76a2753b99bp-50};
    static constexpr double log10_heads[] = {-0x1.254b4d35e8p-3, -0x1.f8c9683468p-4,
                                             -0x1.b8de4d3abp-4,  -0x1.769140a25p-4,
                                             -0x1.31b3055c48p-4, -0x1.d41d5165p-5,
                                             -0x1.71483427dp-5,  -0x1.af5f92bp-6,
                                             -0x1.b5e908ebp-7,   0x0p+0,
                                             0x1.559bd2406p-6,   0x1.9c197abfp-5,
                                             0x1.2e3a740b78p-4,  0x1.93e7de0fcp-4,
                                             0x1.db11ed7668p-4,  0x1.1299a4fb4p-3};
    static constexpr double log10_tails[] = {0x1.61f143538008cp-46,  -0x1.9084e03494e7dp-48,
                                             -0x1.ecbfaee4bfd1fp-43, -0x1.37e4a76791ea4p-43,
                                             0x1.dcffc97be8c9cp-45,  0x1.4d317f9dc537cp-43,
                                             -0x1.54c670f08803p-44,  -0x1.cc1f4dbc14db5p-43,
                                             -0x1.37900f974ff1bp-43, 0x0p+0,
                                             0x1.87741521ad5fbp-43,  0x1.badcf3d6e4566p-46,
                                             0x1.d288560689912p-53,  0x1.f3fc5e5fcd7d1p-43,
                                             0x1.5fa196e1e0ddap-43,  -0x1.cfa739b211e99p-43};
    // (log(1 + r) - r) / r^2 to the base of ln
    static constexpr double ln_tail[] = {-0x1p-1,
                                         0x1.5555555555553p-2,
                                         -0x1.000000000007ap-2,
                                         0x1.99999999aa192p-3,
                                         -0x1.555555544a6f1p-3,
                                         0x1.2492482c2f29ap-3,
                                         -0x1.000000db1be7ap-3,
                                         0x1.c72796a637166p-4,
                                         -0x1.99fc34715e6b3p-4,
                                         0x1.5ebfcd0785d44p-4};
    // (log(1 + r) - r) / r^2 to the base of log2
    static constexpr double log2_tail[] = {
        -0x1.71547652b82fep-1, 0x1.ec709dc3a03fap-2, -0x1.71547652b83aep-2, 0x1.2776c50f05a69p-2,
        -0x1.ec709dc21f31ep-3, 0x1.a61761415519cp-3, -0x1.7154778ed3b33p-3, 0x1.48531dc12ac4ep-3,
        -0x1.27bde5ebac1d4p-3, 0x1.fa062f94dcab8p-4};
    // (log(1 + r) - r) / r^2 to the base of log10
    static constexpr double log10_tail[] = {
        -0x1.bcb7b1526e50ep-3, 0x1.287a7636f435dp-3, -0x1.bcb7b1526e5e2p-4, 0x1.63c6277533621p-4,
        -0x1.287a76360c628p-4, 0x1.fc3fa4659236dp-5, -0x1.bcb7b2cf0fef5p-5, 0x1.8b57a0ecf32b1p-5,
        -0x1.641bcd1cc041cp-5, 0x1.30a82ad414e9fp-5};
    // For powers of floats
    static constexpr double log2_wholes[] = {-0x1.e726aa1e754d2p-2, -0x1.a33760a7f6051p-2,
                                             -0x1.6e221cd9d0cdep-2, -0x1.37124cea4cdedp-2,
                                             -0x1.fbc16b902680ap-3, -0x1.84c2bd02f03b3p-3,
                                             -0x1.32ae9e278ae1ap-3, -0x1.663f6fac91316p-4,
                                             -0x1.6bad3758efd87p-5, 0x0p+0,
                                             0x1.1bb32a600549dp-4,  0x1.563dc29ffacb2p-3,
                                             0x1.f5fd8a9063e35p-3,  0x1.4f6fbb2cec598p-2,
                                             0x1.8a8980abfbd32p-2,  0x1.c819dc2d45fe4p-2};
    // log2(1 + r) / r
    static constexpr double log2_short[] = {
        0x1.71547652b8663p+0, -0x1.71547652cb8ddp-1, 0x1.ec709d81c9722p-2, -0x1.715470dde61bap-2,
        0x1.2779b162291b2p-2, -0x1.ece6926f5922cp-3, 0x1.95881e78ab128p-3};
    // 2^f for |f| <= 1/2
    static constexpr double exp2_short[] = {0x1p+0,
                                            0x1.62e430d034702p-1,
                                            0x1.ebfbe045f4d3cp-3,
                                            0x1.c6aecc669b6ddp-5,
                                            0x1.3b2a1b7152befp-7,
                                            0x1.5f48c04f62e5p-10,
                                            0x1.443fffc90db59p-13};
    // pi / 2
    static constexpr double quarter[] = {0x1.921fb54442d18p+0, 0x1.1a62634p-54,
                                         -0x1.d747f23e32ed7p-83};
    static constexpr double quarters = 0x1.45f306dc9c883p-1;
    // (sin(r) - r) / r^3 in r^2, |r| <= pi / 4
    static constexpr double sin_tail[] = {-0x1.5555555555555p-3,  0x1.1111111110bb1p-7,
                                          -0x1.a01a019e8357dp-13, 0x1.71de37961e4c6p-19,
                                          -0x1.ae600a926c89ap-26, 0x1.5e0af186af739p-33};
    // (cos(r) - 1 + r^2 / 2) / r^4 in r^2
    static constexpr double cos_tail[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16966p-10,
                                          0x1.a01a019f4e867p-16, -0x1.27e4fa17a41b4p-22,
                                          0x1.1eeb68b109173p-29, -0x1.907d7aebd5e3dp-37};
    static constexpr Split<double> eighth = {0x1.921fb54443p-1, -0x1.73dcb3b399d74p-44};
    // (atan(q) - q) / q^3 in q^2, |q| <= 1/2
    static constexpr double atan_tail[] = {
        -0x1.5555555555555p-2, 0x1.99999999998ep-3,  -0x1.24924924881f5p-3, 0x1.c71c71c014e0dp-4,
        -0x1.745d16016ea5fp-4, 0x1.3b138e4b5b747p-4, -0x1.110ea393fffe2p-4, 0x1.e1a795c3fb24fp-5,
        -0x1.ad441c37157fap-5, 0x1.7b1d7856d14a5p-5, -0x1.37ce51c509047p-5, 0x1.99984c3613cd5p-6,
        -0x1.2dd40041c2c27p-7};
    // ((1 - e)^(-1/3) - 1) / e for |e| <= 0.103
    static constexpr double inverse_cbrt[] = {0x1.5555559691574p-2, 0x1.c71c723ebcac7p-3,
                                              0x1.61f64d8fae92dp-3, 0x1.26f7a3173afa3p-3,
                                              0x1.02f441d2f8affp-3, 0x1.cc8c3292afb29p-4};
};
} // namespace Atoll::kernels::vector_math
