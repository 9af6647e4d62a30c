/* newplugin: a device type that computes on tensors. It uses host memory
 * and loops in place of your hardware; each function below describes what to replace them with.
 *
 * The host does not dereference this device's memory: it moves data with `transfer`. The device
 * is inline: a call has taken effect when it returns, so it needs no streams and no events yet. */
#include <atoll/plugin.h>
#include <string.h>

ATOLL_PLUGIN_NOTE("newplugin", ATOLL_CONTAINS_DEVICES, 0);

/* Made by load, gone at unload; every function gets it as self->ctx. Handles of your driver go
 * here. */
typedef struct state {
    const atoll_host *host; /* logging, settings, memory, other functions: atoll/abi/host.h */
} state;
static state the_state;

/* ---- The device: five functions are required ---------------------------------------------------
 */

static int32_t enumerate(const atoll_link *self, atoll_call *call) {
    (void)self;
    atoll_enumerate_params *result = call->params;
    result->count = 1; /* 0 and a reason where there is none */
    return ATOLL_STATUS_OK;
}

static int32_t properties(const atoll_link *self, atoll_call *call) {
    (void)self;
    atoll_properties_params *result = call->params;
    strcpy(result->name, "newplugin's first device");
    result->alignment = 64; /* bytes */
    return ATOLL_STATUS_OK;
}

static int32_t allocate(const atoll_link *self, atoll_call *call) {
    const state *s = self->ctx;
    atoll_memory_params *memory = call->params;
    memory->data = s->host->allocate(memory->bytes);
    if (memory->data) return ATOLL_STATUS_OK;
    return s->host->set_error(call->error, ATOLL_STATUS_OUT_OF_MEMORY, 0, "no memory is left");
}

static int32_t release(const atoll_link *self, atoll_call *call) {
    const state *s = self->ctx;
    s->host->deallocate(((const atoll_memory_params *)call->params)->data);
    return ATOLL_STATUS_OK;
}

/* Host to device, device to host, device to device: here all the same. */
static int32_t transfer(const atoll_link *self, atoll_call *call) {
    (void)self;
    const atoll_transfer_params *asked = call->params;
    memmove(asked->destination, asked->source, asked->bytes);
    return ATOLL_STATUS_OK;
}

#define FUNCTION(number, function, set, capabilities)                                              \
    {                                                                                              \
        .struct_size = sizeof(atoll_function_decl), .id = (number), .dtypes = (set),               \
        .caps = (capabilities), .fn = (function)                                                   \
    }
static const atoll_function_decl device_functions[] = {
    FUNCTION(ATOLL_DEVICE_FN_enumerate, enumerate, 0, 0),
    FUNCTION(ATOLL_DEVICE_FN_properties, properties, 0, 0),
    FUNCTION(ATOLL_DEVICE_FN_allocate, allocate, 0, 0),
    FUNCTION(ATOLL_DEVICE_FN_free, release, 0, 0),
    FUNCTION(ATOLL_DEVICE_FN_transfer, transfer, 0, 0),
};

/* ---- What it computes: one function at a time --------------------------------------------------
 */

static const uint8_t sizes[ATOLL_DTYPE_COUNT] = {
    /* bytes per element, by dtype */
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) size,
#include <atoll/lists/dtypes.inc>
};

/* Sets the elements over the first `axes` axes, the first fastest. */
static void set(const atoll_call *call, uint32_t axes, char *out, const void *value) {
    if (axes == 0) {
        memcpy(out, value, sizes[call->dtype]);
        return;
    }
    const uint32_t axis = axes - 1;
    for (int64_t i = 0; i < call->shape[axis]; ++i)
        set(call, axis, out + i * call->operands[0].strides[axis], value);
}

static int32_t fill(const atoll_link *self, atoll_call *call) {
    (void)self;
    set(call, call->rank, call->operands[0].data, call->attributes[0].value.bytes);
    return ATOLL_STATUS_OK;
}

static void add_axes(const atoll_call *call, uint32_t axes, char *out, const char *a,
                     const char *b) {
    if (axes == 0) {
        *(float *)out = *(const float *)a + *(const float *)b;
        return;
    }
    const uint32_t axis = axes - 1;
    const atoll_operand *o = call->operands;
    for (int64_t i = 0; i < call->shape[axis]; ++i)
        add_axes(call, axis, out + i * o[0].strides[axis], a + i * o[1].strides[axis],
                 b + i * o[2].strides[axis]);
}

/* All three are native float32, on this device and aligned; strides are as the table says. */
static int32_t add_float32(const atoll_link *self, atoll_call *call) {
    (void)self;
    const atoll_operand *o = call->operands;
    add_axes(call, call->rank, o[0].data, o[1].data, o[2].data);
    return ATOLL_STATUS_OK;
}

/* Not declared: other dtypes, byte-swapped data. The host converts them with the device's `copy`;
 * until there is one here, such a call is an error that says so. */
#define ANY_STRIDES ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES
static const atoll_function_decl core_functions[] = {
    FUNCTION(ATOLL_FN_fill, fill, ATOLL_DOMAIN_ALL, ANY_STRIDES),
    FUNCTION(ATOLL_FN_add, add_float32, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32), ANY_STRIDES),
};

/* ---- What the plugin says of itself ------------------------------------------------------------
 */

static const atoll_device_type_decl type = {
    .struct_size = sizeof type, .flags = ATOLL_DEVICE_INLINE, .name = "newplugin"};
static const atoll_device_type_decl *const device_types[] = {&type};

#define IMPLEMENTATION(of, list)                                                                   \
    {                                                                                              \
        .struct_size = sizeof(atoll_impl_decl), .module = (of), .device_type = "newplugin",        \
        .module_version = 1, .function_size = sizeof(atoll_function_decl), .functions = (list),    \
        .function_count = sizeof(list) / sizeof(list)[0]                                           \
    }
static const atoll_impl_decl device_impl = IMPLEMENTATION("device", device_functions);
static const atoll_impl_decl core_impl = IMPLEMENTATION("core", core_functions);
static const atoll_impl_decl *const impls[] = {&device_impl, &core_impl};

static int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    (void)error; /* host->set_error(error, …) says why the plugin cannot be loaded */
    the_state.host = host;
    *plugin = &the_state;
    return ATOLL_STATUS_OK;
}
static int32_t unload(void *plugin, atoll_error *error) {
    (void)plugin, (void)error;
    return ATOLL_STATUS_OK;
}

static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = "newplugin",
    .version = "0.1.0",
    .vendor = "your name",
    .license = "your licence",
    .description = "a device that adds",
    .device_types = device_types,
    .device_type_count = 1,
    .impls = impls,
    .impl_count = 2,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
    return &plugin;
}
