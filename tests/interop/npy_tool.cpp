// Reads and writes .npy and .npz files as test_numpy.py tells it on standard input, a line for each
// step; answers each with a line: facts, or "error" and a text.
//
//   device NAME                  where the tensors of the following lines live
//   dump FILE RAW                reads; writes the elements, native and column-major, to RAW
//   rewrite FILE OUT LAYOUT SWAP reads, makes a view of another layout (see view_of), turns the
//                                bytes if SWAP is 1, and writes
//   dump_npz FILE FOLDER         reads all; FOLDER/0, FOLDER/1 … in the order of the names
//   rewrite_npz FILE OUT deflate|stored
#include "atoll/atoll.hpp"
#include "atoll/npy.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

using namespace Atoll;

namespace {

std::string facts(const Tensor &t) {
    std::string text(name(t.dtype()));
    for (const std::int64_t extent : t.shape()) text += ' ' + std::to_string(extent);
    return text;
}

void dump(const Tensor &t, const std::string &path) {
    std::vector<char> bytes(static_cast<std::size_t>(t.bytes()));
    t.read(bytes.data(), t.dtype());
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Tensor view_of(const Tensor &t, const std::string &layout) {
    if (layout == "plain" || t.rank() == 0) return t;
    if (layout == "transposed") return t.reverse_axes();
    if (layout == "reversed") return t.flip(0);
    if (layout == "every_other") return t(range({}, {}, 2));
    if (layout == "broadcast")
        return t.unsqueeze(-1).broadcast_to([&] {
            Dims shape = t.shape();
            shape.push_back(3);
            return shape;
        }());
    throw std::runtime_error("no layout " + layout);
}

std::string answer(const std::string &line, Device &device) {
    std::istringstream words(line);
    std::string verb, file, out, layout, swap;
    words >> verb >> file >> out >> layout >> swap;
    if (verb == "device") {
        device = Atoll::device(file);
        return "ok";
    }
    if (verb == "dump") {
        const Tensor t = read_npy(file, {device});
        dump(t, out);
        return facts(t);
    }
    if (verb == "rewrite") {
        Tensor t = read_npy(file, {device});
        if (swap == "1") t.byteswap();
        write_npy(out, view_of(t, layout));
        return "ok";
    }
    if (verb == "dump_npz") {
        std::string text;
        int number = 0;
        for (const auto &[key, t] : read_npz(file, {device})) {
            dump(t, out + "/" + std::to_string(number++));
            text += key + ": " + facts(t) + "; ";
        }
        return text;
    }
    if (verb == "rewrite_npz") {
        write_npz(out, read_npz(file, {device}),
                  layout == "deflate" ? Compression::deflate : Compression::stored);
        return "ok";
    }
    return "error no verb " + verb;
}

} // namespace

int main() {
    for (const char *plugin : {"cpu", "dummy"}) load_plugin(plugin);
    Device device = default_device();
    for (std::string line; std::getline(std::cin, line);) {
        std::string text;
        try {
            text = answer(line, device);
        } catch (const std::exception &error) {
            text = std::string("error ") + error.what();
        }
        std::cout << text << std::endl;
    }
}
