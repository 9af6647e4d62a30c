/* A host in C, compiled with the headers of the first plugin ABI that was frozen; while the ABI is
 * a draft, with today's: old_host PLUGIN...
 *
 * Loads each plugin and, if it brings a device type, adds two vectors on it, or on host memory
 * where it only implements `add` for another's. Everything that it hands over has the size that it
 * has in those headers and ends at a page that must not be touched, so a plugin that reads or
 * writes what came later does not get through. Reserved words of a call hold anything. */
#define _GNU_SOURCE
#include "atoll/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if ATOLL_ABI_MAJOR != 0
#error "this host speaks drafts: freeze plugin ABI 1.0 and let it speak that"
#endif

#define COUNT 1000

static void fail(const char *plugin, const char *what, const char *detail) {
    fprintf(stderr, "%s: %s: %s\n", plugin, what, detail);
    exit(1);
}

/* `size` zeroed bytes whose end is the end of what may be touched. Never freed. */
static void *before_wall(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    char *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    return memory + room - size;
}
#define NEW(type) ((type *)sized(before_wall(sizeof(type)), sizeof(type)))
static void *sized(void *object, size_t size) {
    *(uint32_t *)object = (uint32_t)size;
    return object;
}

static void log_text(void *self, int32_t level, const char *text) {
    (void)self;
    fprintf(stderr, "log %d: %s\n", level, text);
}
static int32_t set_error(atoll_error *error, int32_t status, int64_t native, const char *text) {
    error->status = status;
    error->native_code = native;
    snprintf(error->text, error->capacity, "%s", text);
    return status;
}
static void *allocate(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }
static void parallel_for(void *self, int64_t count, int64_t grain, atoll_range_body body,
                         void *argument) {
    (void)self, (void)grain;
    body(argument, 0, count);
}
static void offer_parallel_for(void *self, atoll_parallel_for run, void *pool) {
    (void)self, (void)run, (void)pool;
}
static size_t config(void *self, const char *key, const char *fallback, char *buffer,
                     size_t capacity) {
    (void)self, (void)key;
    if (capacity > 0) snprintf(buffer, capacity, "%s", fallback);
    return strlen(fallback);
}
static int32_t dispatch(void *self, const char *device_type, atoll_call *call) {
    (void)self, (void)device_type;
    return set_error(call->error, ATOLL_STATUS_NOT_SUPPORTED, 0, "no other function is there");
}
static const char *function_name(uint16_t module, uint16_t function) {
    (void)module, (void)function;
    return "?";
}
static const char *owner_name(const void *owner) {
    (void)owner;
    return "host";
}
static const char *device_type_of(const atoll_link *link) {
    (void)link;
    return "?";
}
static uint32_t device_flags_of(const atoll_link *link) {
    (void)link;
    return 0;
}

/* One plugin that is loaded. */
static const char *path;
static const atoll_plugin *plugin;
static void *context;
static atoll_error *error;

/* The plugin may be newer: its structs may be longer than ours, and tell so. */
static const atoll_function_decl *find(const char *module, uint16_t id, uint16_t dtype) {
    for (uint32_t i = 0; i < plugin->impl_count; ++i) {
        const atoll_impl_decl *impl = plugin->impls[i];
        if (strcmp(impl->module, module) != 0) continue;
        for (uint32_t f = 0; f < impl->function_count; ++f) {
            const atoll_function_decl *function =
                (const void *)((const char *)impl->functions + (size_t)f * impl->function_size);
            if (function->id == id &&
                (dtype == ATOLL_DTYPE_NONE || (function->dtypes >> dtype & 1)))
                return function;
        }
    }
    return NULL;
}

static void call_function(const atoll_function_decl *function, atoll_call *call, const char *what) {
    atoll_link *link = before_wall(sizeof *link);
    link->fn = function->fn;
    link->ctx = context;
    call->correlation = 1;
    call->error = error;
    if (link->fn(link, call) != ATOLL_STATUS_OK) fail(path, what, error->text);
}

static void device(uint16_t id, void *params, const char *what) {
    const atoll_function_decl *function = find("device", id, ATOLL_DTYPE_NONE);
    if (!function) fail(path, what, "the function is not there");
    atoll_call *call = NEW(atoll_call);
    call->module = ATOLL_MODULE_DEVICE;
    call->function = id;
    call->params = params;
    call_function(function, call, what);
}

static float *device_vector(int has_device) {
    if (!has_device) return before_wall(COUNT * sizeof(float));
    atoll_memory_params *memory = NEW(atoll_memory_params);
    memory->bytes = COUNT * sizeof(float);
    device(ATOLL_DEVICE_FN_allocate, memory, "allocate");
    return memory->data;
}

static void transfer(uint32_t kind, void *destination, const void *source) {
    atoll_transfer_params *params = NEW(atoll_transfer_params);
    params->kind = kind;
    params->destination = destination;
    params->source = source;
    params->bytes = COUNT * sizeof(float);
    device(ATOLL_DEVICE_FN_transfer, params, "transfer");
}

static void add(const atoll_function_decl *function) {
    const int has_device = plugin->device_type_count > 0;
    if (has_device) {
        atoll_enumerate_params *found = NEW(atoll_enumerate_params);
        device(ATOLL_DEVICE_FN_enumerate, found, "enumerate");
        if (found->count == 0) fail(path, "enumerate", found->reason);
        atoll_properties_params *facts = NEW(atoll_properties_params);
        device(ATOLL_DEVICE_FN_properties, facts, "properties");
        if (facts->name[0] == '\0') fail(path, "properties", "no name");
    }
    float *host[3], *there[3];
    for (int o = 0; o < 3; ++o) {
        host[o] = before_wall(COUNT * sizeof(float));
        there[o] = device_vector(has_device);
        for (int i = 0; i < COUNT; ++i) host[o][i] = o == 0 ? -1 : (float)(o * i);
        if (has_device)
            transfer(ATOLL_TRANSFER_HOST_TO_DEVICE, there[o], host[o]);
        else
            memcpy(there[o], host[o], COUNT * sizeof(float));
    }

    int64_t *numbers = before_wall(2 * sizeof *numbers); /* extent, stride */
    numbers[0] = COUNT;
    numbers[1] = sizeof(float);
    atoll_operand *operands = before_wall(3 * sizeof *operands);
    for (int o = 0; o < 3; ++o) {
        operands[o] = (atoll_operand){.data = there[o],
                                      .strides = numbers + 1,
                                      .dtype = ATOLL_DTYPE_FLOAT32,
                                      .base = there[o]};
        memset(operands[o].reserved, 0xa5, sizeof operands[o].reserved);
    }
    atoll_call *call = NEW(atoll_call);
    memset(call->reserved, 0xa5, sizeof call->reserved);
    call->module = ATOLL_MODULE_CORE;
    call->function = ATOLL_FN_add;
    call->dtype = ATOLL_DTYPE_FLOAT32;
    call->output_count = 1;
    call->operand_count = 3;
    call->rank = 1;
    call->shape = numbers;
    call->operands = operands;
    call_function(function, call, "add");

    if (has_device) {
        transfer(ATOLL_TRANSFER_DEVICE_TO_HOST, host[0], there[0]);
        if (!(plugin->device_types[0]->flags & ATOLL_DEVICE_INLINE))
            device(ATOLL_DEVICE_FN_stream_synchronize, NEW(atoll_stream_params), "synchronise");
        for (int o = 0; o < 3; ++o) {
            atoll_memory_params *memory = NEW(atoll_memory_params);
            memory->bytes = COUNT * sizeof(float);
            memory->data = there[o];
            device(ATOLL_DEVICE_FN_free, memory, "free");
        }
    } else {
        memcpy(host[0], there[0], COUNT * sizeof(float));
    }
    for (int i = 0; i < COUNT; ++i)
        if (host[0][i] != (float)(3 * i)) fail(path, "add", "a wrong sum");
}

static void run(void) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(path, "dlopen", dlerror());
    const atoll_plugin_query_fn query =
        (atoll_plugin_query_fn)dlsym(library, "atoll_plugin_query_v0");
    if (!query) fail(path, "dlsym", dlerror());

    atoll_host_info *info = NEW(atoll_host_info);
    info->abi_major = ATOLL_ABI_MAJOR;
    info->abi_minor = ATOLL_ABI_MINOR;
    info->version = "0.1";
    plugin = query(info);
    if (!plugin) fail(path, "query", "declined");
    if (plugin->magic != ATOLL_MAGIC || plugin->abi_major != ATOLL_ABI_MAJOR ||
        plugin->struct_size < sizeof *plugin)
        fail(path, "query", "not a descriptor of this ABI");
    if (plugin->abi_minor != ATOLL_ABI_MINOR) fail(path, "query", "of another draft");

    error = NEW(atoll_error);
    error->capacity = 256;
    error->text = before_wall(256);
    atoll_host *host = NEW(atoll_host);
    host->self = host;
    host->log = log_text;
    host->set_error = set_error;
    host->allocate = allocate;
    host->deallocate = free;
    host->parallel_for = parallel_for;
    host->offer_parallel_for = offer_parallel_for;
    host->config = config;
    host->dispatch = dispatch;
    host->function_name = function_name;
    host->owner_name = owner_name;
    host->device_type_of = device_type_of;
    host->device_flags_of = device_flags_of;
    if (plugin->load(host, &context, error) != ATOLL_STATUS_OK) fail(path, "load", error->text);
    const atoll_function_decl *function = find("core", ATOLL_FN_add, ATOLL_DTYPE_FLOAT32);
    if (function) add(function);
    if (plugin->unload(context, error) != ATOLL_STATUS_OK) fail(path, "unload", error->text);
    printf("%s (%s): loaded, %s, unloaded\n", plugin->name, plugin->version,
           function ? "added" : "has no add");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s PLUGIN...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; ++i) {
        path = argv[i];
        run();
    }
    return 0;
}
