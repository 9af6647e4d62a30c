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
    static constexpr Split<float> ln_2_shorter = {0x1.62ep-1f, 0x1.0bfbe8p-15f};
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
    // (e^r - 1) / r for |r| <= ln(2) / 32
    static constexpr float exp_sixteenth[] = {0x1p+0f, 0x1p-1f, 0x1.555764p-3f, 0x1.5556b4p-5f};
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
    static constexpr float half_atan_tail[] = {-0x1.555556p-2f, 0x1.9998f2p-3f,  -0x1.24733ep-3f,
                                               0x1.c2d66cp-4f,  -0x1.514dfcp-4f, 0x1.5a176ep-5f};
    // ((1 - e)^(-1/3) - 1) / e for |e| <= 0.103
    static constexpr float inverse_cbrt[] = {0x1.555556p-2f, 0x1.c979p-3f, 0x1.6405c6p-3f};
    // (tan(r) - r - r^3 / 3) / r^5 in r^2
    static constexpr float tan_tail[] = {0x1.111112p-3f, 0x1.ba1ac2p-5f, 0x1.667be4p-6f,
                                         0x1.1f20fcp-7f, 0x1.089ffcp-8f, 0x1.f721bap-12f,
                                         0x1.98651ep-10f};
    // (asin(x) - x) / x^3 in x^2, |x| <= 1/2
    static constexpr float asin_tail[] = {0x1.555554p-3f, 0x1.33343p-4f,  0x1.6d5bbap-5f,
                                          0x1.fd8da2p-6f, 0x1.18f91ep-6f, 0x1.13fed4p-5f};
    // c and atan(c) by intervals of 0.992 x + 1/2
    static constexpr float atan_centers[] = {
        0x1.c3a5ep+0f, 0x1.225dfp+1f, 0x1.62cadp+1f, 0x1.a35418p+1f, 0x1.0211cp+2f, 0x1.429324p+2f,
        0x1.83168p+2f, 0x0p+0f,       0x0p+0f,       0x1.8374p-3f,   0x1.42dc8p-2f, 0x1.c3d04p-2f,
        0x1.42a04p-1f, 0x1.c3b9cp-1f, 0x1.22639p+0f, 0x1.62bfp+0f};
    static constexpr float atan_values[] = {
        0x1.0e1d6cp+0f, 0x1.27d57ep+0f, 0x1.397c74p+0f, 0x1.46479ap+0f,
        0x1.53e47ep+0f, 0x1.5ffbd2p+0f, 0x1.682d52p+0f, 0x1.921fb6p+0f,
        0x0p+0f,        0x1.7eed6cp-3f, 0x1.38c24p-2f,  0x1.a98136p-2f,
        0x1.1fe308p-1f, 0x1.7224b8p-1f, 0x1.b24e52p-1f, 0x1.e431c2p-1f};
    // (atan(z) - z) / z^3 in z^2, |z| <= 0.153
    static constexpr float atan_tail[] = {-0x1.555556p-2f, 0x1.999974p-3f, -0x1.2472f6p-3f,
                                          0x1.b63108p-4f};
    // tanh by intervals: c, f(c) and the coefficients of p
    static constexpr float tanh_centers[] = {
        0x1.1ffdc8p+1f, 0x1.60023p+1f,  0x1.a00a88p+1f, 0x1.e003bp+1f,
        0x1.2000dcp+2f, 0x1.6005f4p+2f, 0x1.9ff9cp+2f,  0x1.03fcep+3f,
        0x0p+0f,        0x1.60172p-1f,  0x1.a00b6p-1f,  0x1.e0186p-1f,
        0x1.20038p+0f,  0x1.60064p+0f,  0x1.9fff1p+0f,  0x1.dfe98p+0f};
    static constexpr float tanh_values[] = {
        0x1.f4bf74p-1f, 0x1.fbd52ep-1f, 0x1.fe76bap-1f, 0x1.ff6f2p-1f,
        0x1.ffdfa8p-1f, 0x1.fffbap-1f,  0x1.ffff68p-1f, 0x1.fffffap-1f,
        0x0p+0f,        0x1.3166c6p-1f, 0x1.578f4p-1f,  0x1.77e376p-1f,
        0x1.9e5f2p-1f,  0x1.c27b78p-1f, 0x1.d9c6b6p-1f, 0x1.e87494p-1f};
    static constexpr float tanh_coefficients[8][16] = {
        {0x1.641c9ep-5f, 0x1.099ea4p-6f, 0x1.88aef6p-8f, 0x1.219704p-9f, 0x1.02b7d6p-11f,
         0x1.17fec2p-14f, 0x1.2f9b4p-17f, 0x1.78b3f8p-22f, -0x1.805aaep-32f, 0x1.49d4fap-1f,
         0x1.19776ap-1f, 0x1.d813d2p-2f, 0x1.614832p-2f, 0x1.ce9366p-3f, 0x1.266032p-3f,
         0x1.700d5ap-4f},
        {-0x1.5c491cp-5f, -0x1.07753p-6f, -0x1.878156p-8f, -0x1.214512p-9f, -0x1.02a77ep-11f,
         -0x1.17fc5ep-14f, -0x1.2f9ae6p-17f, -0x1.78b52ep-22f, 0x1.5566f6p-24f, -0x1.897b28p-2f,
         -0x1.79bc7ep-2f, -0x1.5a943ep-2f, -0x1.1deb02p-2f, -0x1.96ff18p-3f, -0x1.10661ep-3f,
         -0x1.5f2088p-4f},
        {0x1.bbdad4p-6f, 0x1.598c0cp-7f, 0x1.036fa2p-8f, 0x1.80d71ap-10f, 0x1.58b418p-12f,
         0x1.754a82p-15f, 0x1.94ce08p-18f, 0x1.f692aap-23f, -0x1.555664p-2f, 0x1.da30f2p-7f,
         0x1.074a14p-4f, 0x1.84566ep-4f, 0x1.c68daep-4f, 0x1.97ce72p-4f, 0x1.33dffep-4f,
         0x1.a897acp-5f},
        {-0x1.93d1e4p-7f, -0x1.4e313p-8f, -0x1.004fdp-9f, -0x1.7f22fap-11f, -0x1.585cc2p-13f,
         -0x1.753d86p-16f, -0x1.94cbdep-19f, -0x1.f663f2p-24f, 0x1.64f142p-14f, 0x1.e9490ap-4f,
         0x1.46fa32p-4f, 0x1.620256p-5f, 0x1.ab0ad2p-9f, -0x1.5de83ap-6f, -0x1.9d2a04p-6f,
         -0x1.55f71ap-6f},
        {0x1.056b4p-8f, 0x1.f2e24cp-10f, 0x1.902622p-11f, 0x1.2fc86ap-12f, 0x1.12d63ap-14f,
         0x1.2a6338p-17f, 0x1.43b064p-20f, 0x1.8d32cep-25f, 0x1.0f3fc2p-3f, -0x1.f9f24ap-5f,
         -0x1.01219ep-4f, -0x1.b2dd9ep-5f, -0x1.05d67p-5f, -0x1.334a3cp-7f, 0x1.8272b4p-10f,
         0x1.2f945cp-8f},
        {-0x1.82e304p-11f, -0x1.1dce5p-11f, -0x1.fb372cp-13f, -0x1.8dd04p-14f, -0x1.6d0fc6p-16f,
         -0x1.8db2bp-19f, -0x1.afa28ep-22f, -0x1.0a155ap-26f, 0x1.479478p-8f, -0x1.7968f4p-7f,
         0x1.df839ep-8f, 0x1.1748ecp-6f, 0x1.305c48p-6f, 0x1.66eep-7f, 0x1.0bc8eep-8f,
         0x1.4bf2bep-11f},
        {-0x1.c58198p-14f, 0x1.b93e6p-14f, 0x1.04b1bp-14f, 0x1.b88b98p-16f, 0x1.a90d82p-18f,
         0x1.d2d608p-21f, 0x1.fb33bp-24f, 0x1.600584p-28f, -0x1.1dd3c4p-4f, 0x1.b024a2p-6f,
         0x1.0acb16p-6f, 0x1.9f207ep-8f, -0x1.4f5c56p-9f, -0x1.37756p-8f, -0x1.7d50f4p-9f,
         -0x1.38ac42p-10f},
        {0x1.521336p-13f, -0x1.427da6p-19f, -0x1.91e542p-17f, -0x1.96b28cp-18f, -0x1.9fa366p-20f,
         -0x1.cf8336p-23f, -0x1.f7e912p-26f, -0x1.563a02p-30f, 0x1.c153b6p-6f, -0x1.134d0cp-7f,
         -0x1.615ce2p-7f, -0x1.1afc84p-7f, -0x1.bf5a12p-9f, 0x1.f595bap-12f, 0x1.11a3e6p-10f,
         0x1.4ec4d4p-11f}};
    // erf by intervals: c, f(c) and the coefficients of p
    static constexpr float erf_centers[] = {
        0x1.1ffc88p+1f, 0x1.5ffd3p+1f, 0x1.a00c8p+1f, 0x1.dff38p+1f, 0x0p+0f,       0x0p+0f,
        0x0p+0f,        0x0p+0f,       0x0p+0f,       0x1.5ff4cp-1f, 0x1.a00e8p-1f, 0x1.e0106p-1f,
        0x1.1fe95p+0f,  0x1.60092p+0f, 0x1.9ff79p+0f, 0x1.e0174p+0f};
    static constexpr float erf_values[] = {
        0x1.ff402ep-1f, 0x1.fff2cep-1f, 0x1.ffff7p-1f,  0x1.fffffcp-1f,
        0x0p+0f,        0x0p+0f,        0x0p+0f,        0x0p+0f,
        0x0p+0f,        0x1.568a5ap-1f, 0x1.7fc234p-1f, 0x1.a15cc6p-1f,
        0x1.c6cc6p-1f,  0x1.e579a8p-1f, 0x1.f4f538p-1f, 0x1.fbe7aep-1f};
    static constexpr float erf_coefficients[8][16] = {
        {0x1.d44d52p-8f, 0x1.3385f4p-11f, 0x1.e87f6ap-16f, 0x1.da9216p-21f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x0p+0f, 0x1.06eba8p-3f, 0x1.682ad4p-1f, 0x1.2a8012p-1f, 0x1.dfad62p-2f,
         0x1.462a9cp-2f, 0x1.5cc364p-3f, 0x1.49c098p-4f, 0x1.12712ap-5f},
        {-0x1.076852p-6f, -0x1.a6d4dp-10f, -0x1.8cf376p-14f, -0x1.bcdd78p-19f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x0p+0f, 0x1.8a8c6cp-22f, -0x1.ef2b1p-2f, -0x1.e52104p-2f, -0x1.c1c1e4p-2f,
         -0x1.6ed308p-2f, -0x1.df9918p-3f, -0x1.0be70cp-3f, -0x1.01568ep-4f},
        {0x1.64113p-6f, 0x1.69f4aap-9f, 0x1.99badcp-13f, 0x1.0c2362p-17f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, -0x1.812a9p-2f, -0x1.a60236p-7f, 0x1.fe82a8p-5f, 0x1.e4f93cp-4f, 0x1.4c9f76p-3f,
         0x1.436bfp-3f, 0x1.d67df8p-4f, 0x1.13fe3ep-4f},
        {-0x1.38c12ep-6f, -0x1.ab33bcp-9f, -0x1.2bdcf2p-12f, -0x1.d19dacp-17f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x0p+0f, 0x1.5b5ffp-13f, 0x1.532d76p-3f, 0x1.0f9044p-3f, 0x1.74509ap-4f,
         0x1.cc0dd8p-6f, -0x1.f4122cp-6f, -0x1.97492p-5f, -0x1.5a06bep-5f},
        {0x1.5d5966p-7f, 0x1.695e3p-9f, 0x1.4847p-12f, 0x1.34725cp-16f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x1.c9b57p-4f, -0x1.5565c4p-5f, -0x1.fa3bb4p-5f, -0x1.1d20e8p-4f, -0x1.f6a07ap-5f,
         -0x1.f5272p-6f, -0x1.19584ep-9f, 0x1.77e362p-7f},
        {-0x1.7c9a1cp-9f, -0x1.b2a114p-10f, -0x1.13d5e4p-12f, -0x1.43e35ap-16f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x0p+0f, 0x1.06ac2p-8f, -0x1.1b8fdcp-5f, -0x1.3116bap-6f, -0x1.456c9p-9f,
         0x1.fc5638p-7f, 0x1.6b10e8p-6f, 0x1.d88752p-7f, 0x1.0c3ec2p-8f},
        {-0x1.77cbe8p-11f, 0x1.4dfc3cp-11f, 0x1.6ab38cp-13f, 0x1.1e975p-16f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x0p+0f, -0x1.213c8p-5f, 0x1.117396p-6f, 0x1.376bdp-6f, 0x1.1a1cfp-6f,
         0x1.3af856p-7f, -0x1.685f88p-10f, -0x1.925e58p-8f, -0x1.41fa7p-8f},
        {0x1.059518p-10f, -0x1.588842p-14f, -0x1.578c9ep-14f, -0x1.806e64p-17f, 0x0p+0f, 0x0p+0f,
         0x0p+0f, 0x0p+0f, 0x1.4206f6p-7f, 0x1.2978d6p-8f, 0x1.1224fp-13f, -0x1.ca71cap-9f,
         -0x1.88e696p-8f, -0x1.1692a4p-8f, -0x1.34296cp-11f, 0x1.73d76cp-10f}};
    // erfc by intervals: c, f(c) and the coefficients of p
    static constexpr float erfc_centers[] = {
        0x1.ff8d8p-3f,  0x1.7fe6ep-1f,  0x1.3fe78p+0f,  0x1.bfeeep+0f,
        0x1.40066p+1f,  0x1.bfff5p+1f,  0x1.1ffbfp+2f,  0x1.60046cp+2f,
        0x1.bffc0cp+2f, 0x1.200268p+3f, 0x1.5ffff2p+3f, 0x1.a0009cp+3f,
        0x1.fffe84p+3f, 0x1.40002p+4f,  0x1.7ffe7p+4f,  0x1.bffeeep+4f};
    static constexpr float erfc_values[] = {
        0x1.8a8024p-1f, 0x1.039694p-1f, 0x1.78bb0ap-2f, 0x1.23d8bcp-2f,
        0x1.afb3aap-3f, 0x1.3e0b0ep-3f, 0x1.f5b964p-4f, 0x1.9d8586p-4f,
        0x1.46df4p-4f,  0x1.fe688ep-5f, 0x1.a273d6p-5f, 0x1.627b48p-5f,
        0x1.204eb2p-5f, 0x1.cd9b9cp-6f, 0x1.80d378p-6f, 0x1.49eca8p-6f};
    static constexpr float erfc_coefficients[7][16] = {
        {-0x1.7ca6f4p-1f, -0x1.78e50cp-2f, -0x1.abd4aep-3f, -0x1.0c4c9cp-3f, -0x1.307cacp-4f,
         -0x1.5286c4p-5f, -0x1.aa49fap-6f, -0x1.2385a8p-6f, -0x1.6e518cp-7f, -0x1.c03f0ep-8f,
         -0x1.2ddd56p-8f, -0x1.b1bd06p-9f, -0x1.1f31fep-9f, -0x1.705e44p-10f, -0x1.001c7cp-10f,
         -0x1.7894a2p-11f},
        {0x1.2b6bbcp-1f, 0x1.d927c4p-3f, 0x1.b5aa5cp-4f, 0x1.c8f56ap-5f, 0x1.988212p-6f,
         0x1.5d5982p-7f, 0x1.62cef8p-8f, 0x1.9516cap-9f, 0x1.96ae4cp-10f, 0x1.8759e4p-11f,
         0x1.b1c8c6p-12f, 0x1.0897d2p-12f, 0x1.1d89d2p-13f, 0x1.25994p-14f, 0x1.549a68p-15f,
         0x1.ad8fe2p-16f},
        {-0x1.97d112p-2f, -0x1.0a025cp-3f, -0x1.9ba86ap-5f, -0x1.6cda0ap-6f, -0x1.0621fep-7f,
         -0x1.5e5f5cp-9f, -0x1.219d96p-10f, -0x1.158a78p-11f, -0x1.bf5f92p-13f, -0x1.53b63p-14f,
         -0x1.367322p-15f, -0x1.41e576p-16f, -0x1.1b595cp-17f, -0x1.d36f34p-19f, -0x1.c4947ap-20f,
         -0x1.e9aff8p-21f},
        {0x1.f0ddfap-3f, 0x1.11aa28p-4f, 0x1.68e2b4p-6f, 0x1.13827cp-7f, 0x1.4325f8p-9f,
         0x1.562684p-11f, 0x1.d01b8cp-13f, 0x1.7735d6p-14f, 0x1.e7a032p-16f, 0x1.252f18p-17f,
         0x1.ba9c18p-19f, 0x1.867d2cp-20f, 0x1.1895b2p-21f, 0x1.739c06p-23f, 0x1.2c6a3ep-24f,
         0x1.16ee7ap-25f},
        {-0x1.148e44p-3f, -0x1.05699cp-5f, -0x1.29d532p-7f, -0x1.8c2a66p-9f, -0x1.805b2ap-11f,
         -0x1.460138p-13f, -0x1.6d695cp-15f, -0x1.f4bd08p-17f, -0x1.0786d2p-18f, -0x1.f74c44p-21f,
         -0x1.3a5164p-22f, -0x1.d8614ep-24f, -0x1.1561ap-25f, -0x1.2717dp-27f, -0x1.8e7f3cp-29f,
         -0x1.3d927cp-30f},
        {0x1.24367p-4f, 0x1.dd5562p-7f, 0x1.d907aep-9f, 0x1.13c00ep-10f, 0x1.c95428p-13f,
         0x1.365dfap-15f, 0x1.1f669ep-17f, 0x1.4dcd5ep-19f, 0x1.235738p-21f, 0x1.b638a4p-24f,
         0x1.c2d2c6p-26f, 0x1.1fc3dcp-27f, 0x1.1923ecp-29f, 0x1.dc411p-32f, 0x1.0b46a6p-33f,
         0x1.6c8edcp-35f},
        {-0x1.1935a6p-5f, -0x1.936bd4p-8f, -0x1.604df8p-10f, -0x1.6c261cp-12f, -0x1.fd962ap-15f,
         -0x1.1a677ap-17f, -0x1.b59884p-20f, -0x1.b2ac56p-22f, -0x1.356e7ep-24f, -0x1.7410aap-27f,
         -0x1.3db29cp-29f, -0x1.5a2da6p-31f, -0x1.14d764p-33f, -0x1.79427ap-36f, -0x1.61e36cp-38f,
         -0x1.9e81dp-40f}};
};
template <> struct Constants<double> {
    static constexpr Split<double> ln_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    static constexpr Split<double> ln_10 = {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53};
    static constexpr Split<double> log2_e = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
    static constexpr Split<double> log10_e = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
    static constexpr Split<double> log2_10 = {0x1.a934f0979a371p+1, 0x1.7f2495fb7fa6dp-53};
    static constexpr Split<double> ln_2_short = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
    static constexpr Split<double> log10_2_short = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44};
    static constexpr Split<double> ln_2_shorter = {0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40};
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
    // For powers: c, and -log2(c) as a sum
    static constexpr double pow_inverses[] = {
        0x1.64p+0, 0x1.5cp+0, 0x1.54p+0, 0x1.5p+0, 0x1.48p+0, 0x1.4p+0,  0x1.3cp+0, 0x1.34p+0,
        0x1.3p+0,  0x1.28p+0, 0x1.24p+0, 0x1.2p+0, 0x1.1cp+0, 0x1.14p+0, 0x1.1p+0,  0x1.0cp+0,
        0x1.08p+0, 0x1.04p+0, 0x1p+0,    0x1.fp-1, 0x1.ep-1,  0x1.d4p-1, 0x1.c8p-1, 0x1.b8p-1,
        0x1.bp-1,  0x1.a4p-1, 0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.7cp-1, 0x1.74p-1, 0x1.6cp-1};
    static constexpr double pow_heads[] = {-0x1.e726aa1e76p-2,
                                           -0x1.c592fad296p-2,
                                           -0x1.a33760a7f6p-2,
                                           -0x1.91bba891f2p-2,
                                           -0x1.6e221cd9dp-2,
                                           -0x1.49a784bcd2p-2,
                                           -0x1.37124cea4cp-2,
                                           -0x1.11307dad3p-2,
                                           -0x1.fbc16b9028p-3,
                                           -0x1.acf5e2db5p-3,
                                           -0x1.84c2bd02fp-3,
                                           -0x1.5c01a39fbcp-3,
                                           -0x1.32ae9e278cp-3,
                                           -0x1.bc84240ad8p-4,
                                           -0x1.663f6fac9p-4,
                                           -0x1.0eb389fa28p-4,
                                           -0x1.6bad3758fp-5,
                                           -0x1.6e79685c2p-6,
                                           0x0p+0,
                                           0x1.77394c9d9p-5,
                                           0x1.7d60496cf8p-4,
                                           0x1.097e38ce6p-3,
                                           0x1.563dc29ffcp-3,
                                           0x1.bfc67a8p-3,
                                           0x1.f5fd8a9064p-3,
                                           0x1.249cd2b13cp-2,
                                           0x1.4f6fbb2cecp-2,
                                           0x1.6cb0f6865cp-2,
                                           0x1.8a8980abfcp-2,
                                           0x1.b877c57b1cp-2,
                                           0x1.d7e6c0abc4p-2,
                                           0x1.f804ae8d0cp-2};
    static constexpr double pow_tails[] = {0x1.65be75cc3da17p-43,
                                           0x1.2a606046ad444p-44,
                                           -0x1.4275f1035e5e8p-48,
                                           0x1.1ee969a95f529p-43,
                                           -0x1.9bcaf1aa4168ap-43,
                                           0x1.1d406db502403p-44,
                                           -0x1.bd9b32266d92cp-43,
                                           -0x1.6eb9612e0b4f3p-43,
                                           0x1.7f5dc57266758p-43,
                                           0x1.36c101ee1344p-43,
                                           -0x1.d97ee9124773bp-46,
                                           -0x1.6879fa00b120ap-43,
                                           0x1.1e5e0ae0d3f8ap-43,
                                           -0x1.5dd31d962d373p-43,
                                           -0x1.3167ccc538261p-44,
                                           -0x1.f9ab3cf74babap-44,
                                           0x1.3c6764fc87b4ap-48,
                                           -0x1.a45314dc4fc42p-43,
                                           0x0p+0,
                                           0x1.635577970e04p-43,
                                           0x1.da6339da288fcp-43,
                                           0x1.924ae921f7ecap-45,
                                           -0x1.34df378df21adp-43,
                                           -0x1.667f21fa8423fp-44,
                                           -0x1.cb6f70109b0f1p-47,
                                           0x1.ad89a083e072ap-43,
                                           0x1.661e393a16b95p-44,
                                           0x1.1d406db502403p-43,
                                           -0x1.66cccab240e9p-45,
                                           -0x1.f20203b3186a6p-43,
                                           -0x1.50e785694a8c6p-43,
                                           0x1.a0331af2e6feap-43};
    // -2 (log(1 + r) - r + r^2 / 2) / r^3
    static constexpr double pow_rest[] = {
        -0x1.5555555555555p-1, 0x1.fffffffffffaap-2, -0x1.999999999fc67p-2, 0x1.55555557d31p-2,
        -0x1.249247ae1e13dp-2, 0x1.ffff703455e1ep-3, -0x1.c756c8f9204c1p-3, 0x1.9e38e3116bdc3p-3};
    // 2^(i / 16), and what it has lost, divided by it
    static constexpr double sixteenths[] = {0x1p+0,
                                            0x1.0b5586cf9890fp+0,
                                            0x1.172b83c7d517bp+0,
                                            0x1.2387a6e756238p+0,
                                            0x1.306fe0a31b715p+0,
                                            0x1.3dea64c123422p+0,
                                            0x1.4bfdad5362a27p+0,
                                            0x1.5ab07dd485429p+0,
                                            0x1.6a09e667f3bcdp+0,
                                            0x1.7a11473eb0187p+0,
                                            0x1.8ace5422aa0dbp+0,
                                            0x1.9c49182a3f09p+0,
                                            0x1.ae89f995ad3adp+0,
                                            0x1.c199bdd85529cp+0,
                                            0x1.d5818dcfba487p+0,
                                            0x1.ea4afa2a490dap+0};
    static constexpr double sixteenths_lost[] = {0x0p+0,
                                                 0x1.79aa65d837b6dp-54,
                                                 -0x1.01b15eaa59348p-55,
                                                 0x1.68efde3a8a894p-54,
                                                 0x1.34d754db0abb6p-55,
                                                 0x1.59f48a72a4c6dp-55,
                                                 0x1.690cebb7aafbp-56,
                                                 0x1.063e1e21c5409p-54,
                                                 -0x1.3b3efbf5e2228p-54,
                                                 -0x1.b32dcb94da51dp-56,
                                                 0x1.db72fc1f0eab4p-55,
                                                 0x1.1affc2b91ce27p-56,
                                                 0x1.c1a7792cb3387p-55,
                                                 0x1.36eae30af0cb3p-56,
                                                 0x1.4a385a63d07a7p-56,
                                                 -0x1.ff7128fd391fp-55};
    // (2^f - 1) / f for |f| <= 1/32
    static constexpr double sixteenth[] = {
        0x1.62e42fefa39efp-1,  0x1.ebfbdff82c594p-3,  0x1.c6b08d704a0c1p-5, 0x1.3b2ab6fb09b31p-7,
        0x1.5d87fe7846d2cp-10, 0x1.430a49610efc6p-13, 0x1.ffcd7ad9a6463p-17};
    // (e^r - 1) / r for |r| <= ln(2) / 32
    static constexpr double exp_sixteenth[] = {0x1p+0,
                                               0x1.0000000000003p-1,
                                               0x1.5555555555556p-3,
                                               0x1.55555554ac91dp-5,
                                               0x1.11111110c60f8p-7,
                                               0x1.6c181ffad2d42p-10,
                                               0x1.a01b393b539adp-13};
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
    static constexpr double half_atan_tail[] = {
        -0x1.5555555555555p-2, 0x1.99999999998ep-3,  -0x1.24924924881f5p-3, 0x1.c71c71c014e0dp-4,
        -0x1.745d16016ea5fp-4, 0x1.3b138e4b5b747p-4, -0x1.110ea393fffe2p-4, 0x1.e1a795c3fb24fp-5,
        -0x1.ad441c37157fap-5, 0x1.7b1d7856d14a5p-5, -0x1.37ce51c509047p-5, 0x1.99984c3613cd5p-6,
        -0x1.2dd40041c2c27p-7};
    // ((1 - e)^(-1/3) - 1) / e for |e| <= 0.103
    static constexpr double inverse_cbrt[] = {0x1.5555559691574p-2, 0x1.c71c723ebcac7p-3,
                                              0x1.61f64d8fae92dp-3, 0x1.26f7a3173afa3p-3,
                                              0x1.02f441d2f8affp-3, 0x1.cc8c3292afb29p-4};
    // (tan(r) - r - r^3 / 3) / r^5 in r^2
    static constexpr double tan_tail[] = {
        0x1.111111111111p-3,    0x1.ba1ba1ba1c358p-5,   0x1.664f488247d67p-6,
        0x1.226e35857c84bp-7,   0x1.d6d3c3c893d07p-9,   0x1.7da4b3c2c1489p-10,
        0x1.35427f8d18397p-11,  0x1.f7600b6453981p-13,  0x1.87f5f340afb4fp-14,
        0x1.978a526be879fp-15,  -0x1.627e85b552758p-20, 0x1.d1e470ad496b7p-16,
        -0x1.caf83f7da713cp-17, 0x1.efcded41106afp-18};
    // (asin(x) - x) / x^3 in x^2, |x| <= 1/2
    static constexpr double asin_tail[] = {
        0x1.5555555555555p-3,  0x1.3333333333388p-4, 0x1.6db6db6dac1ep-5,  0x1.f1c71c7a52ba3p-6,
        0x1.6e8ba123e494cp-6,  0x1.1c4efce23019fp-6, 0x1.c990ad3d8fdcap-7, 0x1.7b027ee1dd585p-7,
        0x1.3b49de7121487p-7,  0x1.31622469ce5adp-7, 0x1.8f193743418ffp-9, 0x1.406192d124629p-6,
        -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6};
    // c and atan(c) by intervals of 0.992 x + 1/2
    static constexpr double atan_centers[] = {
        0x1.c39bfp+0,  0x1.224f1p+1, 0x1.62d248p+1, 0x1.a358cp+1, 0x1.0211acp+2, 0x1.4296p+2,
        0x1.831d88p+2, 0x0p+0,       0x0p+0,        0x1.8372p-3,  0x1.4255cp-2,  0x1.c3cfcp-2,
        0x1.42884p-1,  0x1.c38c6p-1, 0x1.22494p+0,  0x1.62d56p+0};
    static constexpr double atan_values[] = {
        0x1.0e1b015df243p+0,  0x1.27d0a69f6a6a2p+0, 0x1.397e2c5e2d83cp+0,
        0x1.464865315c794p+0, 0x1.53e4795d08d52p+0, 0x1.5ffc40e34e58cp+0,
        0x1.682e11925da6ap+0, 0x1.921fb54442d18p+0, 0x0p+0,
        0x1.7eeb7db1734b2p-3, 0x1.3847aa8fbc598p-2, 0x1.a980cadba51bcp-2,
        0x1.1fd1d9d68ef43p-1, 0x1.720b3335ce39dp-1, 0x1.b2374d63fe833p-1,
        0x1.e441145519c4ap-1};
    // (atan(z) - z) / z^3 in z^2, |z| <= 0.153
    static constexpr double atan_tail[] = {
        -0x1.5555555555555p-2, 0x1.9999999999999p-3,  -0x1.24924924923dp-3,
        0x1.c71c71c6f2b5cp-4,  -0x1.745d1721d1aacp-4, 0x1.3b139fc481854p-4,
        -0x1.110c14abb9771p-4, 0x1.e03779d7bc67bp-5,  -0x1.8862c9e066a79p-5};
    // 1 / n!
    static constexpr Split<double> inverse_factorials[] = {
        {0x1p+0, 0x0p+0},
        {0x1p+0, 0x0p+0},
        {0x1p-1, 0x0p+0},
        {0x1.5555555555555p-3, 0x1.5555555555555p-57},
        {0x1.5555555555555p-5, 0x1.5555555555555p-59},
        {0x1.1111111111111p-7, 0x1.1111111111111p-63},
        {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
        {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
        {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
        {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
        {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
        {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
        {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
        {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
        {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
        {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
        {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
        {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
        {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
        {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
        {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
        {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
        {0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
        {0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
        {0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135}};
    // 1 / (2 n + 1)
    static constexpr Split<double> inverse_odds[] = {{0x1p+0, 0x0p+0},
                                                     {0x1.5555555555555p-2, 0x1.5555555555555p-56},
                                                     {0x1.999999999999ap-3, -0x1.999999999999ap-57},
                                                     {0x1.2492492492492p-3, 0x1.2492492492492p-57},
                                                     {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
                                                     {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59},
                                                     {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
                                                     {0x1.1111111111111p-4, 0x1.1111111111111p-60},
                                                     {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},
                                                     {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59}};
    // ln_2 as a sum of three
    static constexpr double ln_2_words[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56,
                                            0x1.7b57a079a1934p-111};
    // ln_10 as a sum of three
    static constexpr double ln_10_words[] = {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53,
                                             -0x1.9ebae3ae0260cp-107};
    // quarter as a sum of three
    static constexpr double quarter_words[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                               -0x1.f1976b7ed8fbcp-110};
    // atan(i / 16) as sums
    static constexpr double sixteenth_angles[] = {0x0p+0,
                                                  0x1.ff55bb72cfdeap-5,
                                                  0x1.fd5ba9aac2f6ep-4,
                                                  0x1.7b97b4bce5b02p-3,
                                                  0x1.f5b75f92c80ddp-3,
                                                  0x1.362773707ebccp-2,
                                                  0x1.6f61941e4def1p-2,
                                                  0x1.a64eec3cc23fdp-2,
                                                  0x1.dac670561bb4fp-2,
                                                  0x1.0657e94db30dp-1,
                                                  0x1.1e00babdefeb4p-1,
                                                  0x1.345f01cce37bbp-1,
                                                  0x1.4978fa3269ee1p-1,
                                                  0x1.5d58987169b18p-1,
                                                  0x1.700a7c5784634p-1,
                                                  0x1.819d0b7158a4dp-1};
    static constexpr double sixteenth_angles_lost[] = {0x0p+0,
                                                       -0x1.c934d86d23f1dp-60,
                                                       -0x1.cd37686760c17p-59,
                                                       0x1.347b0b4f881cap-58,
                                                       0x1.8ab6e3cf7afbdp-57,
                                                       -0x1.963a544b672d8p-57,
                                                       -0x1.c63aae6f6e918p-56,
                                                       -0x1.24dec1b50b7ffp-56,
                                                       0x1.a2b7f222f65e2p-56,
                                                       -0x1.d5b495f6349e6p-56,
                                                       -0x1.928df287a668fp-58,
                                                       0x1.1021137c71102p-55,
                                                       0x1.2419a87f2a458p-56,
                                                       0x1.0028e4bc5e7cap-57,
                                                       -0x1.8c34d25aadef6p-56,
                                                       -0x1.bf76229d3b917p-56};
    // erf by intervals: c, f(c) and the coefficients of p
    static constexpr double erf_centers[] = {
        0x0p+0,       0x1.804bcp-2,  0x1.3ffaap-1, 0x1.bfdccp-1, 0x1.2016ep+0, 0x1.5ff9p+0,
        0x1.9ff32p+0, 0x1.dff11p+0,  0x1.1ff85p+1, 0x1.60006p+1, 0x1.a0001p+1, 0x1.e0095p+1,
        0x1.0ffdfp+2, 0x1.300368p+2, 0x1.5002ap+2, 0x1.6ff9cp+2};
    static constexpr double erf_values[] = {0x0p+0,
                                            0x1.9e1b13a8177e6p-2,
                                            0x1.3f155332df92dp-1,
                                            0x1.915fc8e7d3a27p-1,
                                            0x1.c6e960abdbca8p-1,
                                            0x1.e57429928f00cp-1,
                                            0x1.f4f48112004a2p-1,
                                            0x1.fbe51e443ffc2p-1,
                                            0x1.ff400f1f29f02p-1,
                                            0x1.fff2cfe9e6ed2p-1,
                                            0x1.ffff6f9fe252ap-1,
                                            0x1.fffffc313d623p-1,
                                            0x1.fffffff01612bp-1,
                                            0x1.ffffffffd76edp-1,
                                            0x1.ffffffffffc07p-1,
                                            0x1.ffffffffffffcp-1};
    static constexpr double erf_coefficients[12][16] = {
        {0x1.06eba8214db69p-3, 0x1.f5d4f295a8b49p-1, 0x1.86ee8a76e895fp-1, 0x1.0ccbc163b8401p-1,
         0x1.45a8197853701p-2, 0x1.5cffd2c1961afp-3, 0x1.49d32b6ad0ceap-4, 0x1.130adaa75c052p-5,
         0x1.d492cb3eb844dp-8, 0x1.335bd8ec7acf2p-11, 0x1.e9b45aecdadb9p-16, 0x1.d8352bd286061p-21,
         0x1.15a60c6ee811ap-26, 0x1.899a3df9a18e4p-33, 0x1.5390923b682edp-40, 0x1.656b7a43bc1ap-48},
        {0x1.e2ee3c15b4746p-51, -0x1.78a9f4d1a26bcp-2, -0x1.e8a1f7d27a7c4p-2, -0x1.d63f8f602175p-2,
         -0x1.6e7a360ca47e9p-2, -0x1.dfd636cb6b19fp-3, -0x1.0bf3480762284p-3, -0x1.01d226c3d532ep-4,
         -0x1.078b893f0a6d3p-6, -0x1.a69ebd879a6b6p-10, -0x1.8de2992e13c03p-14,
         -0x1.baba6fccef4d3p-19, -0x1.26fe308f84e8dp-24, -0x1.d36c664ff239p-31,
         -0x1.bdb13b552b184p-38, -0x1.00e0e31454556p-45},
        {-0x1.812746b038527p-2, -0x1.e0a1ccf0aa1p-3, -0x1.c84d042375bccp-5, 0x1.7c1e9fd5babbcp-4,
         0x1.4cc83efcda4dap-3, 0x1.437bacbcf071fp-3, 0x1.d68c15c6ba93p-4, 0x1.1465848c23c82p-4,
         0x1.643a84edbdfb2p-6, 0x1.69ca45507ac47p-9, 0x1.9aa35d6630e82p-13, 0x1.0ae37342a0e43p-17,
         0x1.96535920418a4p-23, 0x1.69dc15c3ad982p-29, 0x1.7eeb1fdb9c30ap-36,
         0x1.e4df26aaee007p-44},
        {0x1.a4b5d73c48b52p-37, 0x1.554c15f4ee05ep-3, 0x1.6966baea8cc97p-3, 0x1.ccbf19b5e0c9bp-4,
         0x1.c88fbde9be333p-6, -0x1.f3744269d2c6bp-6, -0x1.9747990d7e9f6p-5, -0x1.5a4cc8ad1e67p-5,
         -0x1.38ddf549e646ep-6, -0x1.ab06dcb909f8dp-9, -0x1.2c7c914a249b5p-12,
         -0x1.cf8f4eddb8067p-17, -0x1.972019daa824cp-22, -0x1.9a405045a8621p-28,
         -0x1.e40676d829fecp-35, -0x1.51c666acd14b6p-42},
        {0x1.ce2f21807c672p-4, 0x1.73d28372f3de4p-5, -0x1.c0f9827ee13f2p-6, -0x1.133f624944f16p-4,
         -0x1.f618cbe299739p-5, -0x1.f5ae56eaa846cp-6, -0x1.1a0e7df2e520dp-9, 0x1.776bfa8c29e3dp-7,
         0x1.5d5d6184a94dcp-7, 0x1.6931c45d425bap-9, 0x1.49097e1f03427p-12, 0x1.33a9b5d5b8f57p-16,
         0x1.3b9265623a79dp-21, 0x1.6a9da54eb259fp-27, 0x1.df855eed93e2dp-34,
         0x1.723a616718af4p-41},
        {0x1.6ad3c3e83f7b1p-27, -0x1.9a905fc79ba07p-5, -0x1.52bac6163fe24p-5, -0x1.54e0fc48fe072p-7,
         0x1.fde127073f1b7p-7, 0x1.6b1b66f525e94p-6, 0x1.d89f48e3a938fp-7, 0x1.0d8d91c4def11p-8,
         -0x1.7c890e578e122p-9, -0x1.b271e2c7c0e6cp-10, -0x1.1453c8f26c90cp-12,
         -0x1.42ccc1e14460ap-16, -0x1.88c37a06c1b39p-21, -0x1.03bbcb2be7a08p-26,
         -0x1.8353994e88ba4p-33, -0x1.4c43705f7843bp-40},
        {-0x1.b82d876de15f5p-6, -0x1.640cc3c7b3f55p-8, 0x1.c7bb33bbfd651p-7, 0x1.30bcc12009ccfp-6,
         0x1.3a3f2edc7753bp-7, -0x1.730b41918c578p-10, -0x1.953b74fdb5668p-8, -0x1.43287b632456ep-8,
         -0x1.607f096e39a3bp-11, 0x1.52b535ad7f2e2p-11, 0x1.647ea75e0dcd4p-13,
         0x1.10a131b3284b6p-16, 0x1.91c7e45ac47f3p-21, 0x1.355b839b844e5p-26, 0x1.05ff6e2fb53e2p-32,
         0x1.f5e9aec40c3e5p-40},
        {0x1.88c5509f70ac7p-20, 0x1.709d5a3db0337p-7, 0x1.b645c9a04731bp-8, -0x1.e1e3980d4d88p-10,
         -0x1.8b56a510dd32ep-8, -0x1.1759b99bbc113p-8, -0x1.2f92cc8d9bf5fp-11,
         0x1.76cd691a93b61p-10, 0x1.063751fdf6d3ap-10, -0x1.755fbce3d4048p-14,
         -0x1.5673ffa19407fp-14, -0x1.74e06fbfa3551p-17, -0x1.56b65633995e4p-21,
         -0x1.37b5b836a932bp-26, -0x1.2e5b1b44ab922p-32, -0x1.450d9f21ffde4p-39},
        {0x1.55bedbf8057dep-8, 0x1.f009e59f36cd4p-14, -0x1.dc2e6e0a45572p-9, -0x1.ab325f7ca8637p-9,
         -0x1.7582ee8f60c7dp-12, 0x1.9d8a516020c2dp-10, 0x1.71fc9d06f7008p-10,
         0x1.7ccdd36074b27p-12, -0x1.834651df4fc4p-12, -0x1.2ada851b949bp-14, 0x1.b2e1643f8df41p-16,
         0x1.99842d9bf4fcdp-18, 0x1.ead647a889b4cp-22, 0x1.0c6c9ff63af69p-26, 0x1.2cacdc96d2319p-32,
         0x1.6c026ee2de7f9p-39},
        {0x1.4cb5f88366ce3p-15, -0x1.07492871b1d74p-9, -0x1.813dbadb9b5e6p-11,
         0x1.d64699b8ab14bp-11, 0x1.2e24bd451954fp-10, 0x1.53bc73f295189p-12,
         -0x1.74fa0b664711fp-12, -0x1.994d4bd4e879ap-12, -0x1.87e0e6bf860e7p-17,
         0x1.cd6e694ee9a43p-15, -0x1.389500b79fe45p-19, -0x1.5d2a3ce79d572p-19,
         -0x1.27839e2309a83p-22, -0x1.8fae380bfc225p-27, -0x1.06889a30d95p-32,
         -0x1.6a3ae21e528f7p-39},
        {-0x1.f87b1efdeacd9p-11, 0x1.e72530bbe6cc2p-14, 0x1.6106c5e76f53ap-11,
         0x1.9838cb6b9c93cp-12, -0x1.6f80492731d0ep-13, -0x1.61903f03f454dp-12,
         -0x1.08614ad2e9b95p-13, 0x1.30c140cfca81dp-14, 0x1.105492605d514p-14,
         -0x1.015d1bfd53353p-16, -0x1.8e08ba5568566p-19, 0x1.9a2c71cf6ea97p-21,
         0x1.2ee8a0fd9fd5p-23, 0x1.0e8eb3cdb4d0dp-27, 0x1.b3447135e223fp-33, 0x1.62e414e0f15b7p-39},
        {0x1.630b28fe2bc0dp-13, 0x1.35b5774810ea7p-12, 0x1.5679abde5477p-15, -0x1.91d0e07563fdep-13,
         -0x1.27c7c2ba5d8a1p-13, 0x1.d7bea36fcbc9p-16, 0x1.6ee51f7d5b924p-14, 0x1.2ef701e1f1ab2p-15,
         -0x1.71f08bc3feb5dp-16, -0x1.4cee31ac6fcd7p-20, 0x1.ff3510cee0608p-20,
         -0x1.60cf74b9899bp-24, -0x1.e50751b661718p-25, -0x1.294f203a9bfc1p-28,
         -0x1.226dba4325cb1p-33, -0x1.10b2dc71811f4p-39}};
    // erfc by intervals: c, f(c) and the coefficients of p
    static constexpr double erfc_centers[] = {
        0x1.ff4d8p-3,  0x1.7fe1p-1,   0x1.40092p+0,  0x1.c0085p+0, 0x1.3ffdp+1,   0x1.c0026p+1,
        0x1.1ffe6p+2,  0x1.5ff9e4p+2, 0x1.bffb7cp+2, 0x1.2002dp+3, 0x1.600066p+3, 0x1.9ffe2ap+3,
        0x1.fffe92p+3, 0x1.400124p+4, 0x1.8000a4p+4, 0x1.c000dap+4};
    static constexpr double erfc_values[] = {
        0x1.8a8c0982ae8cap-1, 0x1.0398bd947037fp-1, 0x1.789ef2fbcde5ep-2, 0x1.23cb682262c9ap-2,
        0x1.afbed0d729c2cp-3, 0x1.3e0907a3f0b8fp-3, 0x1.f5b554f360ea6p-4, 0x1.9d91846f5b44bp-4,
        0x1.46dfa7070c169p-4, 0x1.fe67d7e7081cdp-5, 0x1.a2734d38436a2p-5, 0x1.627d5a5335046p-5,
        0x1.204eaa2586418p-5, 0x1.cd9a24711996dp-6, 0x1.80d1447c970a8p-6, 0x1.49eb3e2240d2bp-6};
    static constexpr double erfc_coefficients[14][16] = {
        {-0x1.7cb9abf0248fp-1, -0x1.78ea7a514026ap-2, -0x1.ab9b368ca3525p-3, -0x1.0c35e90553bbdp-3,
         -0x1.308ba1be8dfd8p-4, -0x1.5282953fc04a3p-5, -0x1.aa4337a60e2e7p-6, -0x1.2396528760f04p-6,
         -0x1.6e52717b207e4p-7, -0x1.c03dd02d89b8bp-8, -0x1.2ddc9082fba5bp-8, -0x1.b1c213411b498p-9,
         -0x1.1f31edbe2c482p-9, -0x1.705bee43c03a1p-10, -0x1.00198ec1fc22ep-10,
         -0x1.7891683c4f0cp-11},
        {0x1.2b7ecd7571c71p-1, 0x1.d930e33cb07c9p-3, 0x1.b55947befbc32p-4, 0x1.c8bf0bed48391p-5,
         0x1.989ec25eec0c8p-6, 0x1.5d53311173c59p-7, 0x1.62c6b05cb63f1p-8, 0x1.95390bf2c5aebp-9,
         0x1.96afb45cf808ap-10, 0x1.8758417ceb3cdp-11, 0x1.b1c71f23e910fp-12, 0x1.089c6dbb42b44p-12,
         0x1.1d89b40aec4f2p-13, 0x1.2596738d88ef9p-14, 0x1.5494927ac3c03p-15,
         0x1.ad8a5e4919fbcp-16},
        {-0x1.97f0196ac07dfp-2, -0x1.0a08a071d410bp-3, -0x1.9b49a6252701cp-5, -0x1.6ca34e02a733dp-6,
         -0x1.06399bb1f509dp-7, -0x1.5e57253cb24e3p-9, -0x1.2194bd5bfd40cp-10,
         -0x1.15a95864f5f9dp-11, -0x1.bf61a5bf722dep-13, -0x1.53b44ecc26203p-14,
         -0x1.36718fe011f38p-15, -0x1.41eceaaac8cd2p-16, -0x1.1b5935ca73061p-17,
         -0x1.d369444c56de8p-19, -0x1.c48a263113ca6p-20, -0x1.e9a7967b1c4c1p-21},
        {0x1.f12522ad6a894p-3, 0x1.11ba866d08526p-4, 0x1.6887d6cf7aaf1p-6, 0x1.135478487360ep-7,
         0x1.436749b53122ep-9, 0x1.562a83a6dbe07p-11, 0x1.d0131e6ed09f5p-13, 0x1.776d2be8b7fb8p-14,
         0x1.e7c6adfd7a79bp-16, 0x1.2535ad845621bp-17, 0x1.ba9f67a4436b9p-19, 0x1.868b4a7d7c221p-20,
         0x1.18a4669f47bcep-21, 0x1.739e4bc9ad8a7p-23, 0x1.2c64e1b4ac43ep-24,
         0x1.16ea210626b2fp-25},
        {-0x1.14b4191602e3fp-3, -0x1.0577f24a7422ep-5, -0x1.297d518c5a674p-7, -0x1.8bdc8e26fc4cfp-9,
         -0x1.80ac77e5a5273p-11, -0x1.46024b018bf42p-13, -0x1.6d5f770f46d44p-15,
         -0x1.f513b3a52d0c5p-17, -0x1.079af0d0f7d05p-18, -0x1.f756fcdc7ec64p-21,
         -0x1.3a5349e06a8cp-22, -0x1.d8750f7a2325dp-24, -0x1.156fe9e0f74dfp-25,
         -0x1.2718acacaf00cp-27, -0x1.8e75c1270f19cp-29, -0x1.3d8c23f9f6effp-30},
        {0x1.1d6026e6f38d2p-4, 0x1.d48e8fdc965a4p-7, 0x1.d18b3c200623cp-9, 0x1.10575e82d1f5ep-10,
         0x1.ba9ea988519d3p-13, 0x1.2f7aa4baa4c87p-15, 0x1.1ae03684594c1p-17, 0x1.4a3bcb0e6f16ep-19,
         0x1.1a81f4663bfeap-21, 0x1.ada9e9058795p-24, 0x1.bcbb786c74a8ap-26, 0x1.1cfa9a491540bp-27,
         0x1.11c106023b153p-29, 0x1.d4179130dd657p-32, 0x1.080b791dd947bp-33, 0x1.694dc9056a43p-35},
        {-0x1.138528e74403cp-5, -0x1.8ce546b091e4dp-8, -0x1.5b685d1248d88p-10,
         -0x1.681ab5c749f57p-12, -0x1.eded3d1d18dd3p-15, -0x1.14629d57a2902p-17,
         -0x1.af0955d1a8328p-20, -0x1.ae0c7f9f4ab45p-22, -0x1.2c440d283b789p-24,
         -0x1.6ccb4def4feecp-27, -0x1.396fc891086a2p-29, -0x1.56d6da2f6ac82p-31,
         -0x1.0d9d95b65709ep-33, -0x1.72cd2025d2e64p-36, -0x1.5da5e6311b1ffp-38,
         -0x1.9ad4da6356ed5p-40},
        {0x1.f5f706ee77824p-7, 0x1.3fc4993489ad9p-9, 0x1.f0c7a1b525b2cp-12, 0x1.cb230a819756fp-14,
         0x1.0bda8c9b00d48p-16, 0x1.ed189419f398bp-20, 0x1.4362a2fdefccbp-22, 0x1.14c2a79778ec6p-24,
         0x1.3c90d315df68fp-27, 0x1.3412ee98225a6p-30, 0x1.b828f4d1140f9p-33, 0x1.9b50ed26f3f7ep-35,
         0x1.090bfd58f2813p-37, 0x1.25606f411322bp-40, 0x1.ce9c6ec0ecc0cp-43,
         0x1.d2dafd5b151cdp-45},
        {-0x1.b21dddd3d3d32p-8, -0x1.ec7b3c6e6d613p-11, -0x1.559826fa00e8bp-13,
         -0x1.1b0da1ec2c757p-15, -0x1.1ae2ef6225837p-18, -0x1.af4ca921fa41bp-22,
         -0x1.de1fa319dd0b5p-25, -0x1.60350fe06aebdp-27, -0x1.4b1f70eff2f3bp-30,
         -0x1.02d0380dbeeccp-33, -0x1.33ebba8cdeap-36, -0x1.ec20c0d9f3239p-39,
         -0x1.0413d5af2c1dap-41, -0x1.cfade5022ce02p-45, -0x1.31c6b9872094ap-47,
         -0x1.0917fe8bf0a6bp-49},
        {0x1.6638526ead311p-9, 0x1.6bee705777426p-12, 0x1.c53740c2c829dp-15, 0x1.5250e61e6ecc5p-17,
         0x1.23638b13f5a6fp-20, 0x1.723ffee5f2a5ap-24, 0x1.5c7650bd19673p-27, 0x1.bb523a7c2e3bep-30,
         0x1.57abd48e6e96fp-33, 0x1.b09ddc20f2e5p-37, 0x1.ad402fd5da27ep-40, 0x1.259d1bf8b2f3bp-42,
         0x1.fd75a86c780b4p-46, 0x1.6dfaba570461ep-49, 0x1.93e1c43402551p-52,
         0x1.2cde0553ba844p-54},
        {-0x1.1b1b8f1847729p-10, -0x1.02e35b188011ep-13, -0x1.22ca4bcc2f749p-16,
         -0x1.88c56f5fff07fp-19, -0x1.24dd29ad81331p-22, -0x1.380d58a289507p-26,
         -0x1.f4dfe72b9a2dcp-30, -0x1.13ff067d5ccf9p-32, -0x1.618ab451acdc7p-36,
         -0x1.67884f65d08bep-40, -0x1.2a08c7228d2d5p-43, -0x1.5d5cdf21678dp-46,
         -0x1.f18533ed1564p-50, -0x1.2062cec674ceap-53, -0x1.0a72748681f01p-56,
         -0x1.5536a6a9f01fcp-59},
        {0x1.ae62c00ca1504p-12, 0x1.63bf64d94fef4p-15, 0x1.69d8958aaa4c7p-18, 0x1.bbd101369e953p-21,
         0x1.202ebf499cc31p-24, 0x1.02b02d662da1bp-28, 0x1.635ad56a5426p-32, 0x1.542acba0bc148p-35,
         0x1.697f27ab0a3dfp-39, 0x1.297674e7d392fp-43, 0x1.9c7e524f81f14p-47, 0x1.9ea7c50ff8016p-50,
         0x1.e5864239f74bp-54, 0x1.c62784568d939p-58, 0x1.5f57a3322986ep-61, 0x1.82c6be5f5162ap-64},
        {-0x1.43fd93d29476bp-13, -0x1.e3d36b2f54253p-17, -0x1.bda2f07569b27p-20,
         -0x1.f080177cf8b02p-23, -0x1.23877ecfdf3dap-26, -0x1.b514c41033934p-31,
         -0x1.ff05302f1df12p-35, -0x1.a7666ec749177p-38, -0x1.84516dbc4d35ap-42,
         -0x1.fc5d09220e1ccp-47, -0x1.23f53b6577597p-50, -0x1.f45ba03318b83p-54,
         -0x1.f2af1e3c4088fp-58, -0x1.71a4301eacfeep-62, -0x1.da1fa8354137p-66,
         -0x1.bdf64887f70fep-69},
        {0x1.c98f1b3320b46p-15, 0x1.376641b44f2c4p-18, 0x1.060ac383d060ap-21, 0x1.0ad9a1810ee94p-24,
         0x1.12aed78a3f0eap-28, 0x1.5e97b64b716d6p-33, 0x1.613f7b58f72e5p-37, 0x1.fef4d6cfbc92cp-41,
         0x1.86dd5c5951af7p-45, 0x1.a08c45216a442p-50, 0x1.9132d7fe09113p-54, 0x1.2747417d03b9fp-57,
         0x1.e4bd1b224b2ffp-62, 0x1.2266d110c76b9p-66, 0x1.38166d42cb1edp-70,
         0x1.f8ed32ee22be3p-74}};
    // log_gamma by intervals: c, f(c) and the coefficients of p
    static constexpr double log_gamma_centers[] = {
        0x1.200bfp+1,  0x1.5ffc5p+1, 0x1.9ffaa8p+1, 0x1.e0044p+1, 0x1.200014p+2, 0x1.5fff38p+2,
        0x1.a0040cp+2, 0x1.e002p+2,  0x1.2000cp-1,  0x1.60212p-1, 0x1.a024cp-1,  0x1.e026cp-1,
        0x1.1ff26p+0,  0x1.5ff94p+0, 0x1.a0018p+0,  0x1.e009dp+0};
    static constexpr double log_gamma_values[] = {
        0x1.9925c93167024p-2, 0x1.72c3f9e3b6c1fp-2, 0x1.54b94e0be8503p-2, 0x1.3c5b940821581p-2,
        0x1.1f28391ffcfb5p-2, 0x1.01526c7f13b72p-2, 0x1.d48d76d1d2b36p-3, 0x1.af9d699211a8bp-3,
        0x1.756535796689bp-1, 0x1.58e834ef07853p-1, 0x1.4249dfad6066p-1,  0x1.2fab0fedfd79ap-1,
        0x1.18ffe4614e43ep-1, 0x1.013fb99d54de7p-1, 0x1.dcfc69800a322p-2, 0x1.be4efdf72771p-2};
    static constexpr double log_gamma_coefficients[14][16] = {
        {-0x1.5fb14b4ae8a6ep-4, -0x1.0d3e000e4a69cp-4, -0x1.add624c3c6499p-5, -0x1.6197585c5f8a9p-5,
         -0x1.12f636ed3ddcbp-5, -0x1.9f4cef3fde84bp-6, -0x1.47a843c4b8aa7p-6, -0x1.0ad6fb682722fp-6,
         -0x1.0213424ef6c1cp-1, -0x1.9213f73e02668p-2, -0x1.4637494cfbceep-2, -0x1.1067a54154aa1p-2,
         -0x1.b08b2f8d3ed0bp-3, -0x1.4e780b142eda7p-3, -0x1.0d7806385c5d9p-3,
         -0x1.bf287733e8795p-4},
        {0x1.9dd85f936f35ep-6, 0x1.06ad200030d42p-6, 0x1.66ec29fec7671p-7, 0x1.02791bb2b33a7p-7,
         0x1.537785f398455p-8, 0x1.a9c8a29652e05p-9, 0x1.1fcc0ccef00f7p-9, 0x1.9a9e3be6e98d9p-10,
         0x1.1bd6641f647c5p-1, 0x1.6ca6697f3562ap-2, 0x1.f82a3a182a727p-3, 0x1.6f22f4c96814dp-3,
         0x1.ea18aff5d6b02p-4, 0x1.391f6067f5e18p-4, 0x1.aeb7909fba096p-5, 0x1.383e51411e7c1p-5},
        {-0x1.153439d084d66p-7, -0x1.21ac8d3386534p-8, -0x1.50c908d26cfb7p-9,
         -0x1.a68b88257d454p-10, -0x1.d1cd80c909959p-11, -0x1.e219af69d6989p-12,
         -0x1.15c8137957cd7p-12, -0x1.59c3d2287391fp-13, -0x1.717dded8f40e3p-1,
         -0x1.85f868f066659p-2, -0x1.c9c11ce7f3887p-3, -0x1.21ad62068fd3cp-3, -0x1.4379ddaeb34f4p-4,
         -0x1.536cb6fb4ac32p-5, -0x1.8c62377c43a68p-6, -0x1.f3aa0dcf0fa13p-7},
        {0x1.8e554d3168aa2p-9, 0x1.559bb0dc156ffp-10, 0x1.5105614038ff1p-11, 0x1.6f7664e0e2d8cp-12,
         0x1.52f7177023b61p-13, 0x1.20865584d9d01p-14, 0x1.1aaa531b60514p-15, 0x1.3244ddb11cb1cp-16,
         0x1.048f58bfaf083p+0, 0x1.c3980f7f2e45dp-2, 0x1.c1d02de96e9a8p-3, 0x1.ee741d26a5a66p-4,
         0x1.cd6bdb00046eep-5, 0x1.8cfb3c76872f4p-6, 0x1.88ed83f9041f8p-7, 0x1.ade68e7ddf35fp-8},
        {-0x1.2ad9b512d21dcp-10, -0x1.a41c70e3b33e8p-12, -0x1.5f3e5864f5398p-13,
         -0x1.4c666c3ab7bbdp-14, -0x1.0024b6f40cc72p-15, -0x1.65ed42b1408d4p-17,
         -0x1.29a06fa40426cp-18, -0x1.1852753743603p-19, -0x1.80b9723182099p+0,
         -0x1.11a91585eadbcp-1, -0x1.ce8dc39073722p-3, -0x1.b996be28c64d1p-4, -0x1.585a0bf9d8c9ap-5,
         -0x1.e5b5c952fd44bp-7, -0x1.974e4fbc46af3p-8, -0x1.8295c918783c2p-9},
        {0x1.cd990c6fa01ddp-12, 0x1.09c656b2b044dp-13, 0x1.78628123a1551p-15, 0x1.34f4e895d131p-16,
         0x1.8d62db27bc036p-18, 0x1.c744a6e6e731ap-20, 0x1.40fc38f00ab0cp-21, 0x1.069041430640ep-22,
         0x1.24a20bfc2e2cdp+1, 0x1.5593e4f528bd9p-1, 0x1.e9c6d51a31903p-3, 0x1.961052f045a8p-4,
         0x1.089b881cecc2fp-5, 0x1.31f810cd178a2p-7, 0x1.b2c36cda14f6bp-9, 0x1.65f09e6ccb47ap-10},
        {-0x1.6bdec5330f0d2p-13, -0x1.572f31593912fp-15, -0x1.9b8083e9f8393p-17,
         -0x1.24e3ef89afe16p-18, -0x1.3a3a926643685p-20, -0x1.26efb284f5d86p-22,
         -0x1.60639556fec4ep-24, -0x1.f4614a1071906p-26, -0x1.c6b63d49407efp+1,
         -0x1.b34a615848bc1p-1, -0x1.08ab657823a9cp-2, -0x1.7d142805e6e88p-4, -0x1.9f01f5e4c8c8ap-6,
         -0x1.896b920813162p-8, -0x1.d9a9bc4708938p-10, -0x1.5248ca88923c4p-11},
        {0x1.23367f8ae6253p-14, 0x1.c1e8e1278c541p-17, 0x1.c8ba4c2468e4p-19, 0x1.19d5127790f1ap-20,
         0x1.f8431c7b831bap-23, 0x1.83968f7bc381dp-25, 0x1.8834fcee64319p-27, 0x1.e32d8f049ffdep-29,
         0x1.66f87a7691ebp+2, 0x1.19b43348fd1f5p+0, 0x1.2272f10a20f6ep-2, 0x1.6b118739e9e3cp-4,
         0x1.4a5a912ac6af5p-6, 0x1.00be33d301061p-8, 0x1.05ec552bae96p-10, 0x1.4490c9cd033efp-12},
        {-0x1.d790f4a39add3p-16, -0x1.2a5f91c2f86d8p-18, -0x1.006fcc8e8a151p-20,
         -0x1.125c09eefeb6dp-22, -0x1.99467065980ddp-25, -0x1.0189a71665c51p-27,
         -0x1.b94d4152e16f5p-30, -0x1.d7887f2bd2ba9p-32, -0x1.1ef6e5ffb1b4fp+3,
         -0x1.7114b30885d1bp+0, -0x1.428dc454e58e3p-2, -0x1.5dfb4944e697cp-4, -0x1.0a04e75a6ea69p-6,
         -0x1.52f4f27552d2dp-9, -0x1.250349e609e52p-11, -0x1.3b0243fbd470ap-13},
        {0x1.814f2b7172f04p-17, 0x1.8f6a8caccba8fp-20, 0x1.22a37a0fff0c8p-22, 0x1.0d91a0700fc8fp-24,
         0x1.4f3f4c1c1e6ap-27, 0x1.595a8e3856b32p-30, 0x1.f4f2e14d4d6edp-33, 0x1.d027e7fb027dbp-35,
         0x1.cf78d3c70fecbp+3, 0x1.e85509d5b219bp+0, 0x1.69a7b6da332ebp-2, 0x1.548cf75aed732p-4,
         0x1.b0631f775768p-7, 0x1.c39444e0479d9p-10, 0x1.4ac5ced3d89aap-12, 0x1.3484c451b9757p-14},
        {-0x1.3cf87e098c1cdp-18, -0x1.0d43ae9e8b6a8p-21, -0x1.4bd62ee5fd6cbp-24,
         -0x1.0ad7a69d3e191p-26, -0x1.1483db664c14p-29, -0x1.d271b5a86889ep-33,
         -0x1.1e5fd6cba32c2p-35, -0x1.cc240eae19785p-38, -0x1.7933394909039p+4,
         -0x1.459b072d88599p+1, -0x1.98a98230bfb69p-2, -0x1.4dec81d3c578p-4, -0x1.61dc5fbbece76p-7,
         -0x1.2ef8295faf6b7p-10, -0x1.781a02025ef0cp-13, -0x1.305d23e253181p-15},
        {0x1.067985cd3677ep-19, 0x1.6d602c18aaa91p-23, 0x1.7d471af721edep-26, 0x1.09cf4d1c5bb11p-28,
         0x1.cb44df9bc8f8ep-32, 0x1.3d0a431664fbep-35, 0x1.49791ca9f8efcp-38, 0x1.caf3616da7905p-41,
         0x1.35527b6660fabp+5, 0x1.b53e58d981b11p+1, 0x1.d0e2e5b211036p-2, 0x1.4991f7c309a36p-4,
         0x1.239ffa779748cp-7, 0x1.9929ee2482e48p-11, 0x1.ae50141ada3a1p-14, 0x1.2e1c3ca2c016p-16},
        {-0x1.c66db8c6afa3fp-21, -0x1.ff814ad1505cap-25, -0x1.c0a277bd7a43p-28,
         -0x1.0deab85239d57p-30, -0x1.8ed146dc05872p-34, -0x1.bcc0c9651da27p-38,
         -0x1.843c451cca149p-41, -0x1.d29e7a806238fp-44, -0x1.0935661d8448bp+6,
         -0x1.2f08246c0edd8p+2, -0x1.0ee2cd00e7174p-1, -0x1.4ba57ba75b702p-4, -0x1.f64ecee513eb2p-8,
         -0x1.1d029e0abee2bp-11, -0x1.f81fa7f0fd84ep-15, -0x1.31a1a081ab725p-17},
        {0x1.7cd1c3e1ff553p-22, 0x1.5e37ea752222dp-26, 0x1.04132b4664646p-29, 0x1.0fa1934994eb4p-32,
         0x1.4e89e27b3ecc7p-36, 0x1.3146e59e43d8fp-40, 0x1.c34c57930719cp-44, 0x1.d608c2d88e91fp-47,
         0x1.b80c5bd33df1ep+6, 0x1.9d7f3be74fd4ap+2, 0x1.38ec114119d1fp-1, 0x1.4c28c72f64521p-4,
         0x1.a13ac7dc5de16p-8, 0x1.846065913e219p-12, 0x1.2344e0565bc6cp-15,
         0x1.329e8fb79160ap-18}};
    // The rest of Stirling's formula for log(gamma(x)) times x, in 1 / x^2, from x = 8 on
    static constexpr double stirling[] = {0x1.5555555555555p-4,  -0x1.6c16c16c149f4p-9,
                                          0x1.a01a017dcf9e1p-11, -0x1.38134d4f8896fp-11,
                                          0x1.b92c33f9445e5p-11, -0x1.ef8d748aeb0f2p-10,
                                          0x1.4bffc9d8b455bp-8};
    // gamma_rest by intervals: c, f(c) and the coefficients of p
    static constexpr double gamma_rest_centers[] = {
        0x1.1ff6e8p+1, 0x1.600128p+1, 0x1.a0064p+1,  0x1.e002ap+1,  0x1.1ffe7cp+2, 0x1.6002b8p+2,
        0x1.a0003cp+2, 0x1.e00338p+2, 0x1.1fff3cp+3, 0x1.6001ecp+3, 0x1.9ffd68p+3, 0x1.dffed4p+3,
        0x1.1fffbp+0,  0x1.6018p+0,   0x1.9ffa1p+0,  0x1.e0093p+0};
    static constexpr double gamma_rest_values[] = {
        0x1.b309e2dbb937bp-5, 0x1.649c0ea7b6f2dp-5, 0x1.2e17188f81718p-5, 0x1.0604bed59ee92p-5,
        0x1.b505c8e441aa9p-6, 0x1.65bc80d9647e2p-6, 0x1.2ecd4192f8c32p-6, 0x1.06790fa451451p-6,
        0x1.b58ca55b8ff29p-7, 0x1.660834a89f2c2p-7, 0x1.2efcd68ddfe0fp-7, 0x1.069927a5cdefap-7,
        0x1.abf984920af87p-4, 0x1.607398ca4c66ep-4, 0x1.2b90579e63821p-4, 0x1.044bb1714286fp-4};
    static constexpr double gamma_rest_coefficients[12][16] = {
        {-0x1.7e1ac231cf36fp-6, -0x1.0134a1d26d9dcp-6, -0x1.718b300f7bb3ap-7, -0x1.1633df27880f2p-7,
         -0x1.8339cc024e016p-8, -0x1.0399bd0016f08p-8, -0x1.7418f8762222dp-9, -0x1.17a2943b3ece1p-9,
         -0x1.849e6aadce406p-10, -0x1.043d130d8a0e2p-10, -0x1.74c532f669b5p-11,
         -0x1.180651b7473f4p-11, -0x1.6d618d4fc094bp-4, -0x1.f1e4f0722f86cp-5,
         -0x1.68cabab540786p-5, -0x1.10fdd4d989a0dp-5},
        {0x1.4ddc1f08be7dep-7, 0x1.71a1db9cba2f6p-8, 0x1.c2cb92d1564e4p-9, 0x1.26bf99e448e32p-9,
         0x1.56930acbb45e2p-10, 0x1.785feb1a0e868p-11, 0x1.c8e6fff858b68p-12, 0x1.29bf478833012p-12,
         0x1.59053c87312dap-13, 0x1.7a35ca6f89a89p-14, 0x1.ca8906e6fcaadp-15, 0x1.2a904754923fep-15,
         0x1.33d38cd49c6ecp-4, 0x1.5bf9761516ad2p-5, 0x1.aed96c3151613p-6, 0x1.1c53d6303a448p-6},
        {-0x1.225d7cd2a528cp-8, -0x1.08b181efbaf2cp-9, -0x1.123ce50a1431cp-10,
         -0x1.37a38348904bcp-11, -0x1.2e9f4a1045426p-12, -0x1.108ee93f77354p-13,
         -0x1.184ead078c05ap-14, -0x1.3cda0d61d373fp-15, -0x1.3230ce7b877efp-16,
         -0x1.12c1883599bdp-17, -0x1.19f61ccb754b6p-18, -0x1.3e487d1628159p-19,
         -0x1.00f132247bf96p-4, -0x1.e2791ee42af4bp-6, -0x1.fef8971a4b7a3p-7,
         -0x1.266792dee1894p-7},
        {0x1.f712d6fb69132p-10, 0x1.79ee3a3df25d9p-11, 0x1.4cdb9d4091209p-12, 0x1.48dd087eda573p-13,
         0x1.0af35816f3202p-14, 0x1.8a5cf0932e55cp-16, 0x1.57aeb782cecfdp-17, 0x1.50fe4d2f0169ap-18,
         0x1.0f9f97f57d4ebp-19, 0x1.8f17f113527cep-21, 0x1.5ab2eb078bd3bp-22, 0x1.53417099a9216p-23,
         0x1.aa65b5d18f503p-5, 0x1.4c864d707d9d5p-6, 0x1.2d5edaf06c4afp-7, 0x1.2f6138fb0444dp-8},
        {-0x1.b2596ea91f95bp-11, -0x1.0d131fe6def67p-12, -0x1.931f701750943p-14,
         -0x1.5a6b8b7656747p-15, -0x1.d6559f4216278p-17, -0x1.1d0706c5cc2bcp-18,
         -0x1.a515fdefd966ap-20, -0x1.6637fd47ca587p-21, -0x1.e1bab854fd089p-23,
         -0x1.21c5b45bab3bep-24, -0x1.aa37d31836d88p-26, -0x1.698eb80b629e5p-27,
         -0x1.60a555d415881p-5, -0x1.c88d2fcbe9012p-7, -0x1.621359f08767bp-8,
         -0x1.37714b674a225p-9},
        {0x1.75fd23fcd6bd9p-12, 0x1.7e3e916f9601fp-14, 0x1.e7422d0b570f7p-16, 0x1.6c506d987c0e9p-17,
         0x1.9dcfd754134b7p-19, 0x1.9ba17bc3377bdp-21, 0x1.01c85ea461b64p-22, 0x1.7c93af1d832dp-24,
         0x1.ab03af7e3650dp-26, 0x1.a4aed77f296ecp-28, 0x1.05f01f78ed578p-29, 0x1.814512a1ca7c3p-31,
         0x1.2349aeb91235bp-5, 0x1.38ad7e0826d7ap-7, 0x1.9ed522ec3e3ep-9, 0x1.3ecbaa9ddb268p-10},
        {-0x1.4151177f5751fp-13, -0x1.0ef63bd9f1e94p-15, -0x1.25f65bc3ea7bbp-17,
         -0x1.7e8f0f46accd6p-19, -0x1.6ba70c7e48487p-21, -0x1.28f95ca9fbdbbp-23,
         -0x1.3b693b776e8b8p-25, -0x1.941ea012995a1p-27, -0x1.7a5f6e98ac3ffp-29,
         -0x1.3149ed68785c6p-31, -0x1.41e4ee31fc1eap-33, -0x1.9a7a7e3054b32p-35,
         -0x1.e154e2847f00ap-6, -0x1.abcff96e59dcdp-8, -0x1.e525663f293a2p-10,
         -0x1.45a3db5084c26p-11},
        {0x1.1399d7e9000f5p-14, 0x1.7f828ac9ef166p-17, 0x1.6226b34fb3652p-19, 0x1.912cb2ad99456p-21,
         0x1.3f38b408f08abp-23, 0x1.ac26bb4d51166p-26, 0x1.81aca636940e2p-28, 0x1.ace6b7d523913p-30,
         0x1.4f25b3eb32be5p-32, 0x1.bafb2f083d582p-35, 0x1.8b8008ea273d6p-37, 0x1.b5463932692a5p-39,
         0x1.8e32107b1eeep-6, 0x1.24a1dd772b47cp-8, 0x1.1b6b273948cadp-10, 0x1.4c2a7508bc196p-12},
        {-0x1.d7fc83660451dp-16, -0x1.0ef9be488ba24p-18, -0x1.aa0dd699e93a8p-21,
         -0x1.a429c57f0385bp-23, -0x1.17cbb35793d7dp-25, -0x1.3452cad26f27p-28,
         -0x1.d73eb1d71e519p-31, -0x1.c6f302805b204p-33, -0x1.2898fac2f73e8p-35,
         -0x1.413b7153153eap-38, -0x1.e5ca16c232357p-41, -0x1.d1b8efd88e418p-43,
         -0x1.49ef9ef4f1af9p-6, -0x1.907ef60c580bp-9, -0x1.4b04306ce090cp-11,
         -0x1.5286ce2544658p-13},
        {0x1.9405a4fd1dbffp-17, 0x1.7e969f19e6224p-20, 0x1.0004178954327p-22, 0x1.b79be30d24936p-25,
         0x1.ea46783616d5ap-28, 0x1.bbd55c4b355bbp-31, 0x1.1fc3bb5639bfdp-33, 0x1.e26179bacb7c1p-36,
         0x1.068747452013p-38, 0x1.d1e1622ecc556p-42, 0x1.2a53ef624bf34p-44, 0x1.effc62cf6c9f1p-47,
         0x1.1225a2e625eefp-6, 0x1.1266bdbaf089bp-9, 0x1.82be3dd1368f7p-12, 0x1.58e8ead40aa28p-14},
        {-0x1.65eb19ab7d2a8p-18, -0x1.144c4f21faa92p-21, -0x1.38abba917ff2ap-24,
         -0x1.d17a5c12439e1p-27, -0x1.bd219ff8235a4p-30, -0x1.4727448a2a63ap-33,
         -0x1.657b0819fc30ep-36, -0x1.0305fe32e00fbp-38, -0x1.e2434a1541086p-42,
         -0x1.5a47329804952p-45, -0x1.74edd46f01ebbp-48, -0x1.0ba0127ece728p-50,
         -0x1.d845c6c05edb4p-7, -0x1.8129c89a524edp-10, -0x1.cb840ba1f8a74p-13,
         -0x1.63c6055260596p-15},
        {0x1.31b880560881fp-19, 0x1.8599760f176e7p-23, 0x1.77631d2cc87edp-26, 0x1.e64c3d4ba6fa5p-29,
         0x1.8541d55003838p-32, 0x1.d67880ffc3a65p-36, 0x1.b41e0e3a96d4fp-39, 0x1.127aca72c2c1ep-41,
         0x1.aa83b0302756ap-45, 0x1.f6166bcf939adp-49, 0x1.c9bc824d8b802p-52, 0x1.1ce7581889c4bp-54,
         0x1.8a902859022bbp-7, 0x1.099402ec0408ep-10, 0x1.0cb2ca17aab05p-13,
         0x1.6af41501f41cdp-16}};
    // lgamma by intervals: c, f(c) and the coefficients of p
    static constexpr double lgamma_centers[] = {
        0x1.200bfp+1,  0x1.5ffc5p+1, 0x1.9ffaa8p+1, 0x1.e0044p+1,  0x1.200014p+2, 0x1.5fff38p+2,
        0x1.a0040cp+2, 0x1.e002p+2,  0x1.1ffdecp+3, 0x1.5ffedep+3, 0x1.9ffda4p+3, 0x1.e0020cp+3,
        0x1.1ff26p+0,  0x1.5ff94p+0, 0x1.a0018p+0,  0x1.e009dp+0};
    static constexpr double lgamma_values[] = {
        0x1.9925c93167024p-2, 0x1.72c3f9e3b6c1fp-2, 0x1.54b94e0be8503p-2, 0x1.3c5b940821581p-2,
        0x1.1f28391ffcfb5p-2, 0x1.01526c7f13b72p-2, 0x1.d48d76d1d2b36p-3, 0x1.af9d699211a8bp-3,
        0x1.83d4fc087d6ffp-3, 0x1.57b6413fb3492p-3, 0x1.361be33b559d1p-3, 0x1.1b77ab3ed2401p-3,
        0x1.18ffe4614e43ep-1, 0x1.013fb99d54de7p-1, 0x1.dcfc69800a322p-2, 0x1.be4efdf72771p-2};
    static constexpr double lgamma_coefficients[6][16] = {
        {-0x1.5fb14ba75a261p-4, -0x1.0d3e0023f480bp-4, -0x1.add624d0b98ddp-5, -0x1.61975860f9c6bp-5,
         -0x1.12f6373d03444p-5, -0x1.9f4cef651d615p-6, -0x1.47a843cfd1283p-6, -0x1.0ad6fb6c1588cp-6,
         -0x1.998b858e7560cp-7, -0x1.30bb7a23bb21ap-7, -0x1.daf74965a05bap-8, -0x1.7eb23f22f1549p-8,
         -0x1.b08b2ff676ce4p-3, -0x1.4e780b2d02fbap-3, -0x1.0d78063fd0f98p-3, -0x1.bf2877393994p-4},
        {0x1.9dd860750bfadp-6, 0x1.06ad2016fb3dap-6, 0x1.66ec2a0849ed9p-7, 0x1.02791bb881342p-7,
         0x1.537786741669fp-8, 0x1.a9c8a2c53be43p-9, 0x1.1fcc0cde723bfp-9, 0x1.9a9e3bef9c69ap-10,
         0x1.0a2a4b4e3519bp-10, 0x1.48d6c2603ddc2p-11, 0x1.b6e0cd8b518d6p-12, 0x1.35860826256cp-12,
         0x1.ea18b038990dep-4, 0x1.391f607c96cd7p-4, 0x1.aeb790b1caea7p-5, 0x1.383e5149e3a53p-5},
        {-0x1.1530fa8823f1p-7, -0x1.21ab075c31e1ap-8, -0x1.50c81fc252411p-9, -0x1.a68ae2804a2c6p-10,
         -0x1.d1c7e5b861879p-11, -0x1.e217113cb362ap-12, -0x1.15c74bd1e3532p-12,
         -0x1.59c344aa9ba82p-13, -0x1.78c43845346e7p-14, -0x1.8086645092306p-15,
         -0x1.b5be23f386c9ep-16, -0x1.0d61b180792b4p-16, -0x1.43762aec24dc3p-4,
         -0x1.536af82c37c61p-5, -0x1.8c612b2a85f36p-6, -0x1.f3a94e781b89dp-7},
        {0x1.8e4f4b44983c1p-9, 0x1.5599cfa2e58acp-10, 0x1.5104787c976d5p-11, 0x1.6f75b6cc7046dp-12,
         0x1.52f296723bd9ep-13, 0x1.2084a28861021p-14, 0x1.1aa96405d1664p-15, 0x1.32444f2744ef9p-16,
         0x1.17c0e8b7b01a1p-17, 0x1.d65d237b802dcp-19, 0x1.c7b6c9f3b2d82p-20, 0x1.e885fd97bde79p-21,
         0x1.cd67041663f03p-5, 0x1.8cf93406e0c4p-6, 0x1.88ec52cb89158p-7, 0x1.ade5afc2fb34p-8},
        {-0x1.2f2a3045444b6p-10, -0x1.a829d6c48d0d8p-12, -0x1.61aaeffb6142dp-13,
         -0x1.4e1f99afc4e94p-14, -0x1.03de4fc75af78p-15, -0x1.6968e527f2c4ap-17,
         -0x1.2bb3faa698adcp-18, -0x1.19cb506323692p-19, -0x1.b2e686029e248p-21,
         -0x1.2b2a4c63ac275p-22, -0x1.eb48e777042f4p-24, -0x1.c96008334e69ap-25,
         -0x1.5d44caa9a0e6ep-5, -0x1.ea5ae11053c5cp-7, -0x1.9a18b4ed60652p-8,
         -0x1.84935cdb30fefp-9},
        {0x1.d4e8d1a16fe2cp-12, 0x1.0c5f79dcdbc27p-13, 0x1.7af96e1c00f71p-15, 0x1.36ac231f39445p-16,
         0x1.935e1a8c45bf1p-18, 0x1.cbd31d58dd1d2p-20, 0x1.435cbb1e7765p-21, 0x1.080214f039b5cp-22,
         0x1.54968af7cdfd6p-24, 0x1.80c4d2bce280fp-26, 0x1.0c30215166b2dp-27, 0x1.b2226507febd7p-29,
         0x1.0c428be9445a7p-5, 0x1.34e0c164c34a1p-7, 0x1.b5e1fc57f8825p-9, 0x1.6800b3dfcfe93p-10}};
};
} // namespace Atoll::kernels::vector_math
