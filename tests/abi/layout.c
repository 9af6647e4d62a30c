/* Freezes the plugin ABI (x86-64): compiled, as C11 and as C++, never run.
 *
 * A line that fails means that plugins built before the change would break, so it goes with a new
 * ATOLL_ABI_MINOR. While the major is 0 that is a new draft, and plugins of the one before are
 * refused. From major 1 on offsets and ids stay as they are for ever; a struct that begins with
 * struct_size may grow at its end, and then gets new OFFSET lines and a new SIZE. The ids of core's
 * functions are in their list alone: check_frozen.sh compares it with what was released. */
#include "atoll/plugin.h"

#ifdef __cplusplus
#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "size of " #type)
#define OFFSET(type, member, bytes)                                                                \
    static_assert(offsetof(type, member) == (bytes), "offset of " #type "::" #member)
#define VALUE(name, number) static_assert((name) == (number), "value of " #name)
#else
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define OFFSET(type, member, bytes)                                                                \
    _Static_assert(offsetof(type, member) == (bytes), "offset of " #type "::" #member)
#define VALUE(name, number) _Static_assert((name) == (number), "value of " #name)
#endif

/* abi/base.h, abi/call.h */
SIZE(atoll_scalar, 32);
OFFSET(atoll_scalar, dtype, 0);
OFFSET(atoll_scalar, count, 4);
OFFSET(atoll_scalar, reserved, 8);
OFFSET(atoll_scalar, value, 16);

SIZE(atoll_error, 96);
OFFSET(atoll_error, struct_size, 0);
OFFSET(atoll_error, status, 4);
OFFSET(atoll_error, native_code, 8);
OFFSET(atoll_error, capacity, 16);
OFFSET(atoll_error, reserved, 20);
OFFSET(atoll_error, text, 24);
OFFSET(atoll_error, function, 32);

SIZE(atoll_operand, 64);
OFFSET(atoll_operand, data, 0);
OFFSET(atoll_operand, strides, 8);
OFFSET(atoll_operand, dtype, 16);
OFFSET(atoll_operand, flags, 18);
OFFSET(atoll_operand, device, 20);
OFFSET(atoll_operand, storage, 24);
OFFSET(atoll_operand, base, 32);
OFFSET(atoll_operand, reserved, 40);

SIZE(atoll_call, 128);
OFFSET(atoll_call, struct_size, 0);
OFFSET(atoll_call, flags, 4);
OFFSET(atoll_call, module, 8);
OFFSET(atoll_call, function, 10);
OFFSET(atoll_call, dtype, 12);
OFFSET(atoll_call, output_count, 14);
OFFSET(atoll_call, operand_count, 16);
OFFSET(atoll_call, attribute_count, 18);
OFFSET(atoll_call, rank, 20);
OFFSET(atoll_call, core, 22);
OFFSET(atoll_call, device, 24);
OFFSET(atoll_call, parent_module, 28);
OFFSET(atoll_call, parent_function, 30);
OFFSET(atoll_call, shape, 32);
OFFSET(atoll_call, operands, 40);
OFFSET(atoll_call, attributes, 48);
OFFSET(atoll_call, params, 48);
OFFSET(atoll_call, stream, 56);
OFFSET(atoll_call, correlation, 64);
OFFSET(atoll_call, error, 72);
OFFSET(atoll_call, axes, 80);
OFFSET(atoll_call, reasons, 88);
OFFSET(atoll_call, reserved_word, 92);
OFFSET(atoll_call, reserved, 96);

SIZE(atoll_link, 32);
OFFSET(atoll_link, fn, 0);
OFFSET(atoll_link, ctx, 8);
OFFSET(atoll_link, next, 16);
OFFSET(atoll_link, owner, 24);

/* abi/device.h */
SIZE(atoll_enumerate_params, 264);
OFFSET(atoll_enumerate_params, struct_size, 0);
OFFSET(atoll_enumerate_params, count, 4);
OFFSET(atoll_enumerate_params, reason, 8);

SIZE(atoll_properties_params, 160);
OFFSET(atoll_properties_params, struct_size, 0);
OFFSET(atoll_properties_params, units, 4);
OFFSET(atoll_properties_params, name, 8);
OFFSET(atoll_properties_params, total_memory, 136);
OFFSET(atoll_properties_params, free_memory, 144);
OFFSET(atoll_properties_params, alignment, 152);

SIZE(atoll_facts_params, 24);
OFFSET(atoll_facts_params, struct_size, 0);
OFFSET(atoll_facts_params, reserved, 4);
OFFSET(atoll_facts_params, add, 8);
OFFSET(atoll_facts_params, argument, 16);

SIZE(atoll_memory_params, 24);
OFFSET(atoll_memory_params, struct_size, 0);
OFFSET(atoll_memory_params, reserved, 4);
OFFSET(atoll_memory_params, bytes, 8);
OFFSET(atoll_memory_params, data, 16);

SIZE(atoll_stream_order_params, 16);
OFFSET(atoll_stream_order_params, struct_size, 0);
OFFSET(atoll_stream_order_params, done_device, 4);
OFFSET(atoll_stream_order_params, done, 8);

SIZE(atoll_native_handle_params, 16);
OFFSET(atoll_native_handle_params, struct_size, 0);
OFFSET(atoll_native_handle_params, kind, 4);
OFFSET(atoll_native_handle_params, value, 8);

SIZE(atoll_event_time_params, 24);
OFFSET(atoll_event_time_params, struct_size, 0);
OFFSET(atoll_event_time_params, reserved, 4);
OFFSET(atoll_event_time_params, event, 8);
OFFSET(atoll_event_time_params, nanoseconds, 16);

SIZE(atoll_transfer_params, 40);
OFFSET(atoll_transfer_params, struct_size, 0);
OFFSET(atoll_transfer_params, kind, 4);
OFFSET(atoll_transfer_params, destination, 8);
OFFSET(atoll_transfer_params, source, 16);
OFFSET(atoll_transfer_params, bytes, 24);
OFFSET(atoll_transfer_params, peer, 32);
OFFSET(atoll_transfer_params, flags, 36);

SIZE(atoll_stream_params, 16);
OFFSET(atoll_stream_params, struct_size, 0);
OFFSET(atoll_stream_params, reserved, 4);
OFFSET(atoll_stream_params, stream, 8);

SIZE(atoll_event_params, 16);
OFFSET(atoll_event_params, struct_size, 0);
OFFSET(atoll_event_params, reserved, 4);
OFFSET(atoll_event_params, event, 8);

SIZE(atoll_callback_params, 24);
OFFSET(atoll_callback_params, struct_size, 0);
OFFSET(atoll_callback_params, reserved, 4);
OFFSET(atoll_callback_params, function, 8);
OFFSET(atoll_callback_params, argument, 16);

SIZE(atoll_device_type_decl, 32);
OFFSET(atoll_device_type_decl, struct_size, 0);
OFFSET(atoll_device_type_decl, flags, 4);
OFFSET(atoll_device_type_decl, name, 8);
OFFSET(atoll_device_type_decl, dlpack_type, 16);
OFFSET(atoll_device_type_decl, reserved, 20);
OFFSET(atoll_device_type_decl, next, 24);

/* abi/host.h */
SIZE(atoll_host_info, 16);
OFFSET(atoll_host_info, struct_size, 0);
OFFSET(atoll_host_info, abi_major, 4);
OFFSET(atoll_host_info, abi_minor, 6);
OFFSET(atoll_host_info, version, 8);

SIZE(atoll_host, 152);
OFFSET(atoll_host, struct_size, 0);
OFFSET(atoll_host, reserved, 4);
OFFSET(atoll_host, self, 8);
OFFSET(atoll_host, log, 16);
OFFSET(atoll_host, set_error, 24);
OFFSET(atoll_host, allocate, 32);
OFFSET(atoll_host, deallocate, 40);
OFFSET(atoll_host, parallel_for, 48);
OFFSET(atoll_host, offer_parallel_for, 56);
OFFSET(atoll_host, config, 64);
OFFSET(atoll_host, dispatch, 72);
OFFSET(atoll_host, function_name, 80);
OFFSET(atoll_host, owner_name, 88);
OFFSET(atoll_host, device_type_of, 96);
OFFSET(atoll_host, device_flags_of, 104);
OFFSET(atoll_host, find_function, 112);
OFFSET(atoll_host, plugin_path, 120);
OFFSET(atoll_host, object_create, 128);
OFFSET(atoll_host, object_retain, 136);
OFFSET(atoll_host, object_release, 144);

/* abi/module.h */
SIZE(atoll_function_info, 64);
OFFSET(atoll_function_info, struct_size, 0);
OFFSET(atoll_function_info, id, 4);
OFFSET(atoll_function_info, rule, 6);
OFFSET(atoll_function_info, domain, 8);
OFFSET(atoll_function_info, name, 16);
OFFSET(atoll_function_info, doc, 24);
OFFSET(atoll_function_info, signature, 32);
OFFSET(atoll_function_info, attributes, 40);
OFFSET(atoll_function_info, properties, 48);
OFFSET(atoll_function_info, infer, 56);
SIZE(atoll_infer, 32);
OFFSET(atoll_infer, struct_size, 0);
OFFSET(atoll_infer, dtype, 4);
OFFSET(atoll_infer, attribute_count, 6);
OFFSET(atoll_infer, attributes, 8);
OFFSET(atoll_infer, axes, 16);
OFFSET(atoll_infer, extents, 24);

SIZE(atoll_module_decl, 48);
OFFSET(atoll_module_decl, struct_size, 0);
OFFSET(atoll_module_decl, version, 4);
OFFSET(atoll_module_decl, name, 8);
OFFSET(atoll_module_decl, functions, 16);
OFFSET(atoll_module_decl, function_size, 24);
OFFSET(atoll_module_decl, function_count, 28);
OFFSET(atoll_module_decl, depends, 32);
OFFSET(atoll_module_decl, next, 40);

SIZE(atoll_extension, 16);
OFFSET(atoll_extension, struct_size, 0);
OFFSET(atoll_extension, id, 4);
OFFSET(atoll_extension, next, 8);

SIZE(atoll_object_type, 24);
OFFSET(atoll_object_type, struct_size, 0);
OFFSET(atoll_object_type, reserved, 4);
OFFSET(atoll_object_type, name, 8);
OFFSET(atoll_object_type, destroy, 16);

SIZE(atoll_object, 32);
OFFSET(atoll_object, struct_size, 0);
OFFSET(atoll_object, device, 4);
OFFSET(atoll_object, type, 8);
OFFSET(atoll_object, value, 16);
OFFSET(atoll_object, identity, 24);

SIZE(atoll_function_decl, 48);
OFFSET(atoll_function_decl, struct_size, 0);
OFFSET(atoll_function_decl, id, 4);
OFFSET(atoll_function_decl, attributes, 6);
OFFSET(atoll_function_decl, dtypes, 8);
OFFSET(atoll_function_decl, caps, 16);
OFFSET(atoll_function_decl, fn, 24);
OFFSET(atoll_function_decl, inputs, 32);
OFFSET(atoll_function_decl, max_rank, 34);
OFFSET(atoll_function_decl, reserved, 36);
OFFSET(atoll_function_decl, next, 40);

SIZE(atoll_impl_decl, 72);
OFFSET(atoll_impl_decl, struct_size, 0);
OFFSET(atoll_impl_decl, priority, 4);
OFFSET(atoll_impl_decl, module, 8);
OFFSET(atoll_impl_decl, device_type, 16);
OFFSET(atoll_impl_decl, module_version, 24);
OFFSET(atoll_impl_decl, function_size, 28);
OFFSET(atoll_impl_decl, functions, 32);
OFFSET(atoll_impl_decl, function_count, 40);
OFFSET(atoll_impl_decl, reserved, 44);
OFFSET(atoll_impl_decl, open_device, 48);
OFFSET(atoll_impl_decl, close_device, 56);
OFFSET(atoll_impl_decl, next, 64);

SIZE(atoll_interposer_decl, 64);
OFFSET(atoll_interposer_decl, struct_size, 0);
OFFSET(atoll_interposer_decl, reserved, 4);
OFFSET(atoll_interposer_decl, name, 8);
OFFSET(atoll_interposer_decl, fn, 16);
OFFSET(atoll_interposer_decl, create, 24);
OFFSET(atoll_interposer_decl, destroy, 32);
OFFSET(atoll_interposer_decl, report, 40);
OFFSET(atoll_interposer_decl, range, 48);
OFFSET(atoll_interposer_decl, next, 56);

/* plugin.h */
SIZE(atoll_plugin, 120);
OFFSET(atoll_plugin, struct_size, 0);
OFFSET(atoll_plugin, magic, 4);
OFFSET(atoll_plugin, abi_major, 8);
OFFSET(atoll_plugin, abi_minor, 10);
OFFSET(atoll_plugin, min_host_minor, 12);
OFFSET(atoll_plugin, reserved, 14);
OFFSET(atoll_plugin, name, 16);
OFFSET(atoll_plugin, version, 24);
OFFSET(atoll_plugin, vendor, 32);
OFFSET(atoll_plugin, license, 40);
OFFSET(atoll_plugin, description, 48);
OFFSET(atoll_plugin, modules, 56);
OFFSET(atoll_plugin, device_types, 64);
OFFSET(atoll_plugin, impls, 72);
OFFSET(atoll_plugin, interposers, 80);
OFFSET(atoll_plugin, module_count, 88);
OFFSET(atoll_plugin, device_type_count, 92);
OFFSET(atoll_plugin, impl_count, 96);
OFFSET(atoll_plugin, interposer_count, 100);
OFFSET(atoll_plugin, load, 104);
OFFSET(atoll_plugin, unload, 112);

/* Ids of the lists. */
VALUE(ATOLL_STATUS_OK, 0);
VALUE(ATOLL_STATUS_INVALID_ARGUMENT, 1);
VALUE(ATOLL_STATUS_NOT_SUPPORTED, 2);
VALUE(ATOLL_STATUS_OUT_OF_MEMORY, 3);
VALUE(ATOLL_STATUS_DEVICE_LOST, 4);
VALUE(ATOLL_STATUS_KERNEL_FAILED, 5);
VALUE(ATOLL_STATUS_NOT_READY, 6);
VALUE(ATOLL_STATUS_NOT_FOUND, 7);
VALUE(ATOLL_STATUS_INCOMPATIBLE, 8);
VALUE(ATOLL_STATUS_REFUSED, 9);
VALUE(ATOLL_STATUS_BUSY, 10);
VALUE(ATOLL_STATUS_READ_ONLY, 11);
VALUE(ATOLL_STATUS_OUT_OF_RANGE, 12);
VALUE(ATOLL_STATUS_OVERFLOW_, 13);
VALUE(ATOLL_STATUS_INTERNAL, 14);
VALUE(ATOLL_STATUS_PLUGIN_FAULT, 15);
VALUE(ATOLL_STATUS_DOMAIN_, 16);

VALUE(ATOLL_DTYPE_BOOL, 1);
VALUE(ATOLL_DTYPE_INT8, 2);
VALUE(ATOLL_DTYPE_INT16, 3);
VALUE(ATOLL_DTYPE_INT32, 4);
VALUE(ATOLL_DTYPE_INT64, 5);
VALUE(ATOLL_DTYPE_UINT8, 6);
VALUE(ATOLL_DTYPE_UINT16, 7);
VALUE(ATOLL_DTYPE_UINT32, 8);
VALUE(ATOLL_DTYPE_UINT64, 9);
VALUE(ATOLL_DTYPE_FLOAT16, 10);
VALUE(ATOLL_DTYPE_BFLOAT16, 11);
VALUE(ATOLL_DTYPE_FLOAT32, 12);
VALUE(ATOLL_DTYPE_FLOAT64, 13);
VALUE(ATOLL_DTYPE_COMPLEX32, 14);
VALUE(ATOLL_DTYPE_COMPLEX64, 15);
VALUE(ATOLL_DTYPE_COMPLEX128, 16);

VALUE(ATOLL_DEVICE_FN_enumerate, 0);
VALUE(ATOLL_DEVICE_FN_properties, 1);
VALUE(ATOLL_DEVICE_FN_allocate, 2);
VALUE(ATOLL_DEVICE_FN_free, 3);
VALUE(ATOLL_DEVICE_FN_transfer, 4);
VALUE(ATOLL_DEVICE_FN_stream_create, 5);
VALUE(ATOLL_DEVICE_FN_stream_destroy, 6);
VALUE(ATOLL_DEVICE_FN_stream_synchronize, 7);
VALUE(ATOLL_DEVICE_FN_event_create, 8);
VALUE(ATOLL_DEVICE_FN_event_destroy, 9);
VALUE(ATOLL_DEVICE_FN_event_record, 10);
VALUE(ATOLL_DEVICE_FN_event_wait, 11);
VALUE(ATOLL_DEVICE_FN_event_synchronize, 12);
VALUE(ATOLL_DEVICE_FN_event_query, 13);
VALUE(ATOLL_DEVICE_FN_host_callback, 14);
VALUE(ATOLL_DEVICE_FN_stream_order, 15);
VALUE(ATOLL_DEVICE_FN_native_handle, 16);
VALUE(ATOLL_DEVICE_FN_allocate_host, 17);
VALUE(ATOLL_DEVICE_FN_free_host, 18);
VALUE(ATOLL_DEVICE_FN_event_time, 19);
VALUE(ATOLL_DEVICE_FN_facts, 20);

/* Kinds, rules, flags, capabilities, limits. */
VALUE(ATOLL_DTYPE_KIND_BOOL, 1);
VALUE(ATOLL_DTYPE_KIND_SIGNED, 2);
VALUE(ATOLL_DTYPE_KIND_UNSIGNED, 3);
VALUE(ATOLL_DTYPE_KIND_FLOAT, 4);
VALUE(ATOLL_DTYPE_KIND_BRAIN, 5);
VALUE(ATOLL_DTYPE_KIND_COMPLEX, 6);
VALUE(ATOLL_VALUE_ABSENT, 0);
VALUE(ATOLL_VALUE_INTS, 0x10000);
VALUE(ATOLL_VALUE_CHOICE, 0x10001);
VALUE(ATOLL_OPERAND_SWAPPED, 1);
VALUE(ATOLL_OPERAND_SCALAR, 2);
VALUE(ATOLL_OPERAND_ABSENT, 4);
VALUE(ATOLL_OPERAND_DISPOSABLE, 8);
VALUE(ATOLL_CALL_INSERTED, 1);
VALUE(ATOLL_REASON_DEVICE, 1);
VALUE(ATOLL_REASON_DTYPE, 2);
VALUE(ATOLL_REASON_OUTPUT_DTYPE, 4);
VALUE(ATOLL_REASON_BYTE_ORDER, 8);
VALUE(ATOLL_REASON_ALIGNMENT, 16);
VALUE(ATOLL_REASON_NUMBER, 32);
VALUE(ATOLL_REASON_OVERLAP, 64);
VALUE(ATOLL_REASON_STRIDES, 128);
VALUE(ATOLL_REASON_NEGATIVE_STRIDES, 256);
VALUE(ATOLL_REASON_BROADCAST, 512);
VALUE(ATOLL_REASON_AXES, 1024);
VALUE(ATOLL_REASON_LOOPS, 2048);
VALUE(ATOLL_REASON_RANGE, 4096);
VALUE(ATOLL_REASON_ARGUMENT, 8192);
VALUE(ATOLL_REASON_TRANSFER, 16384);
VALUE(ATOLL_REASON_STEP, 32768);
VALUE(ATOLL_DEVICE_HOST_MEMORY, 1);
VALUE(ATOLL_DEVICE_INLINE, 2);
VALUE(ATOLL_DEVICE_PEER, 4);
VALUE(ATOLL_TRANSFER_HOST_TO_DEVICE, 1);
VALUE(ATOLL_TRANSFER_DEVICE_TO_HOST, 2);
VALUE(ATOLL_TRANSFER_DEVICE_TO_DEVICE, 3);
VALUE(ATOLL_LOG_TRACE, 0);
VALUE(ATOLL_LOG_DEBUG, 1);
VALUE(ATOLL_LOG_INFO, 2);
VALUE(ATOLL_LOG_WARN, 3);
VALUE(ATOLL_LOG_ERROR, 4);
VALUE(ATOLL_RULE_GIVEN, 0);
VALUE(ATOLL_RULE_COMMON, 1);
VALUE(ATOLL_RULE_FLOAT, 2);
VALUE(ATOLL_RULE_SUM, 3);
VALUE(ATOLL_RULE_NUMBER, 4);
VALUE(ATOLL_RULE_COMPLEX, 5);
VALUE(ATOLL_CAP_MIXED_INPUTS, 1);
VALUE(ATOLL_CAP_MIXED_OUTPUTS, 2);
VALUE(ATOLL_CAP_SWAPPED, 4);
VALUE(ATOLL_CAP_STRIDED, 8);
VALUE(ATOLL_CAP_NEGATIVE_STRIDES, 16);
VALUE(ATOLL_CAP_ZERO_STRIDES, 32);
VALUE(ATOLL_CAP_UNALIGNED, 64);
VALUE(ATOLL_CAP_SCALARS, 128);
VALUE(ATOLL_CAP_LOOPS, 256);
VALUE(ATOLL_CAP_FORWARDS, 512);
VALUE(ATOLL_CAP_GROUPS, 1024);
VALUE(ATOLL_CONTAINS_DEVICES, 1);
VALUE(ATOLL_CONTAINS_MODULES, 2);
VALUE(ATOLL_CONTAINS_IMPLS, 4);
VALUE(ATOLL_CONTAINS_INTERPOSERS, 8);
VALUE(ATOLL_SANITIZER_ADDRESS, 1);
VALUE(ATOLL_SANITIZER_THREAD, 2);
VALUE(ATOLL_NOTE_TYPE, 1);
VALUE(ATOLL_MAGIC, 0x4c4f5441);
VALUE(ATOLL_ABI_MAJOR, 0);
VALUE(ATOLL_MAX_RANK, 64);
VALUE(ATOLL_MAX_OPERANDS, 8);
VALUE(ATOLL_MAX_SLOTS, 8);
VALUE(ATOLL_MODULE_CORE, 0);
VALUE(ATOLL_MODULE_DEVICE, 1);

/* The domains are the dtypes that their names say. */
enum {
    INTEGERS = 0
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    | ((ATOLL_DTYPE_KIND_##KIND == ATOLL_DTYPE_KIND_SIGNED ||                                      \
        ATOLL_DTYPE_KIND_##KIND == ATOLL_DTYPE_KIND_UNSIGNED)                                      \
       << (id))
#include "atoll/lists/dtypes.inc"
    ,
    REAL_FLOATS = 0
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    | ((ATOLL_DTYPE_KIND_##KIND == ATOLL_DTYPE_KIND_FLOAT ||                                       \
        ATOLL_DTYPE_KIND_##KIND == ATOLL_DTYPE_KIND_BRAIN)                                         \
       << (id))
#include "atoll/lists/dtypes.inc"
    ,
    COMPLEXES = 0
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    | ((ATOLL_DTYPE_KIND_##KIND == ATOLL_DTYPE_KIND_COMPLEX) << (id))
#include "atoll/lists/dtypes.inc"
};
VALUE(ATOLL_DOMAIN_INTEGERS, INTEGERS);
VALUE(ATOLL_DOMAIN_REAL_FLOATS, REAL_FLOATS);
VALUE(ATOLL_DOMAIN_COMPLEXES, COMPLEXES);

/* Two entries of one list with the same id would be two cases with the same value. */
#define ATOLL_STATUS(id, ...) case (id):
#define ATOLL_DTYPE(id, ...) case (id):
#define ATOLL_FUNCTION(id, ...) case (id):
#define ATOLL_DEVICE_FUNCTION(id, ...) case (id):
void atoll_test_ids_are_unique(int id);
void atoll_test_ids_are_unique(int id) {
    switch (id) {
#include "atoll/lists/status.inc"
        break;
    }
    switch (id) {
#include "atoll/lists/dtypes.inc"
        break;
    }
    switch (id) {
#include "atoll/lists/functions.inc"
        break;
    }
    switch (id) {
#include "atoll/lists/device_functions.inc"
        break;
    }
}
