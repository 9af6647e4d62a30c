// The bars: how large an error may be, and the exceptions with their reasons.
#pragma once

namespace accuracy {

struct Bound {
    double error;       // units of the last place
    const char *reason; // NULL: the usual bar
};

// 16-bit floats: half a place, and a little for the float32 result that is rounded. Others: half a
// place for add and subtract, and for multiply, divide and sqrt of reals; one place for all other
// element-wise functions of reals, and for moduli; 4 places for those of complex numbers and for
// reductions.
double usual_bar(int function, int dtype);
Bound bound_of(int function, int dtype);

} // namespace accuracy
