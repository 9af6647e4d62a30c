// Third stage of a call: makes the copies of the plan. No other code makes temporaries of operands.
#pragma once

#include "call/plan.hpp"
#include "call/route.hpp"

#include <boost/container/static_vector.hpp>

namespace Atoll::detail {

class Materialiser {
public:
    // `space` contains the operands unmerged; `context` is for the parts of the call.
    Materialiser(Plan &plan, const Route &route, Space &space, const Ref<StreamImpl> &stream,
                 const Context &context)
        : plan_(plan), call_(*plan.call), route_(route), space_(space), stream_(stream),
          context_(context) {}

    // Adds layouts that the implementation does not take to the needs.
    void plan_layouts();
    // Makes the copies and lays them over the space. Copies the contents of replaced outputs only
    // if the function reads them.
    void copy();
    // Copies replaced outputs to their places.
    void finish();

private:
    struct Replaced { // an output that the plugin writes elsewhere
        Tensor place, copy;
        Context context;
    };
    int copy_axes(int operand, int *axes) const;
    void lay_dense(int operand);
    bool serves_one_element(int operand) const;
    Tensor view_of(int operand, const int *axes, const Dims &shape) const;
    void copy_operand(int operand);

    Plan &plan_;
    const Checked &call_;
    const Route &route_;
    Space &space_;
    const Ref<StreamImpl> &stream_;
    const Context &context_;
    boost::container::static_vector<Tensor, max_operands> kept_;
    boost::container::static_vector<Replaced, max_operands> replaced_;
};

} // namespace Atoll::detail
