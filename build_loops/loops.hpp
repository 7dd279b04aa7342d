// What the translated loops stand on: arrays, room for them, arithmetic as Python has it, arguments and results.
// CHECKED is defined in the build that tests every index, division and shift.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>

typedef long long i64;
typedef unsigned long long u64;
static_assert(sizeof(i64) == 8 && sizeof(double) == 8, "arrays of numpy have these sizes");

// ---- What goes wrong inside a loop ends the whole call: nothing in here has a destructor that would be missed.

struct Block {  // room that a loop has taken; its entries follow, 64 bytes behind
    Block* before;
    i64 bytes;
    i64 users;  // the call that made it, and arrays handed to Python that lie in it
    char* begin() { return (char*)this + 64; }
};

struct Call {
    jmp_buf out;
    const char* wrong;
    i64 line;
    Block* last;  // the blocks of the functions under way, innermost first
    i64 taken;    // bytes, of all blocks so far
};
static thread_local Call* call;

#ifdef CHECKED
static thread_local i64 line_now;
#define LINE(n) line_now = n
#define CHECK(fine, what) ((fine) ? (void)0 : fail(what))
#else
#define LINE(n)
#define CHECK(fine, what) ((void)0)
static const i64 line_now = 0;
#endif

[[noreturn]] static void fail(const char* what) {
    call->wrong = what;
    call->line = line_now;
    longjmp(call->out, 1);
}

static const char MEMORY[] = "no memory", ZERO[] = "division by zero", INDEX[] = "index out of range";
static const char LENGTHS[] = "lengths that differ", NEGATIVE[] = "negative dimensions", STEP[] = "a step of zero";
static const char SHIFT[] = "shift out of range", POSITIVE[] = "lgamma of a number that is not positive";

// ---- Arrays: views, whose room belongs to a caller or to the function that made it.

template <class T, int N>
struct Array {
    T* p;
    i64 n[N];
    i64 row() const {
        i64 r = 1;
        for (int k = 1; k < N; k++) r *= n[k];
        return r;
    }
    i64 size() const { return n[0] * row(); }
    decltype(auto) operator[](i64 i) const {
        CHECK(i >= 0 && i < n[0], INDEX);
        if constexpr (N == 1) {
            return (p[i]);
        } else {
            Array<T, N - 1> part;
            part.p = p + i * row();
            for (int k = 1; k < N; k++) part.n[k - 1] = n[k];
            return part;
        }
    }
    static i64 within(i64 i, i64 n) {  // as in a slice of Python
        i = i < 0 ? i + n : i;
        i = i < 0 ? 0 : i;
        return i > n ? n : i;
    }
    Array cut(i64 low, i64 high) const {
        low = within(low, n[0]);
        high = within(high, n[0]);
        Array part = *this;
        part.p = p + low * row();
        part.n[0] = high > low ? high - low : 0;
        return part;
    }
    Array from(i64 low) const { return cut(low, n[0]); }
    void fill(T x) const {
        for (i64 i = 0, m = size(); i < m; i++) p[i] = x;
    }
    void put(Array other) const {
        if (size() != other.size()) fail(LENGTHS);
        memmove((void*)p, (const void*)other.p, size() * sizeof(T));
    }
    void sort() const {
        static_assert(N == 1, "one axis");
        qsort(p, n[0], sizeof(T), [](const void* a, const void* b) {
            return (*(const T*)a > *(const T*)b) - (*(const T*)a < *(const T*)b);
        });
    }
    i64 sum() const {
        i64 total = 0;
        for (i64 i = 0, m = size(); i < m; i++) total += p[i];
        return total;
    }
};

template <class T, int N>
static Array<T, N> room(bool zeros, const i64 (&shape)[N]) {
    Array<T, N> made;
    i64 count = 1;
    for (int k = 0; k < N; k++) {
        if (shape[k] < 0) fail(NEGATIVE);
        if (shape[k] > 0 && count > (INT64_MAX - 128) / (i64)sizeof(T) / shape[k]) fail(MEMORY);
        count *= shape[k];
        made.n[k] = shape[k];
    }
    i64 bytes = count * (i64)sizeof(T);
    Block* block = (Block*)(zeros ? calloc(bytes + 64, 1) : malloc(bytes + 64));
    if (!block) fail(MEMORY);
    *block = {call->last, bytes, 1};
    call->last = block;
    call->taken += bytes + 64;
    made.p = (T*)block->begin();
    return made;
}
template <class T, int N, class... S>
static Array<T, N> empty(S... shape) { return room<T, N>(false, {(i64)shape...}); }
template <class T, int N, class... S>
static Array<T, N> zeros(S... shape) { return room<T, N>(true, {(i64)shape...}); }
template <class T, int N, class... S>
static Array<T, N> full(T x, S... shape) {
    auto made = empty<T, N>(shape...);
    made.fill(x);
    return made;
}
template <class T>
static Array<T, 1> arange(i64 n) {
    auto made = empty<T, 1>(n > 0 ? n : 0);
    for (i64 i = 0; i < n; i++) made.p[i] = (T)i;
    return made;
}
template <int N>
static Array<i64, 1> array_of(const i64 (&items)[N]) {
    auto made = empty<i64, 1>(N);
    memcpy(made.p, items, sizeof(items));
    return made;
}
template <class To, class T, int N>
static Array<To, N> copied(Array<T, N> from) {
    auto made = room<To, N>(false, from.n);
    for (i64 i = 0, m = from.size(); i < m; i++) made.p[i] = (To)from.p[i];
    return made;
}
template <class T>
static Array<T, 1> sorted(Array<T, 1> from) {
    auto made = copied<T>(from);
    made.sort();
    return made;
}
template <class T>
static Array<T, 1> joined(Array<T, 1> a, Array<T, 1> b) {
    auto made = empty<T, 1>(a.n[0] + b.n[0]);
    made.cut(0, a.n[0]).put(a);
    made.from(a.n[0]).put(b);
    return made;
}
template <class T>
static inline bool before(T a, T b) { return a < b || (a == a && b != b); }  // what is not a number comes last
template <class T>
static Array<i64, 1> argsort(Array<T, 1> keys) {  // by merging, which keeps the order of what is alike
    i64 n = keys.n[0];
    auto from = arange<i64>(n), to = empty<i64, 1>(n);
    for (i64 width = 1; width < n; width *= 2) {
        for (i64 begin = 0; begin < n; begin += 2 * width) {
            i64 a = begin, middle = begin + width < n ? begin + width : n, b = middle;
            i64 end = middle + width < n ? middle + width : n;
            for (i64 k = begin; k < end; k++)
                to.p[k] = b == end || (a < middle && !before(keys.p[from.p[b]], keys.p[from.p[a]])) ? from.p[a++] : from.p[b++];
        }
        auto spare = from;
        from = to;
        to = spare;
    }
    return from;
}

struct Mark {  // where a function begins
    Block* last = call->last;
    i64 tidied = call->taken;
};
#ifdef CHECKED
const i64 MESS = 0;  // so that a use of what was given back is found
#else
const i64 MESS = 1 << 15;  // looking through all blocks costs more than taking a few small ones
#endif

// Give back what was taken since `mark`, but for the blocks in which one of these places lies.
template <class... P>
static void release(const Mark& mark, P*... kept) {
    Block** link = &call->last;
    while (*link != mark.last) {
        Block* block = *link;
        char* end = block->begin() + block->bytes;
        if (((block->begin() <= (char*)kept && (char*)kept <= end) || ... || false)) {
            link = &block->before;
        } else {
            *link = block->before;
            free(block);
        }
    }
}

// The same inside a loop, once so much was taken that it pays.
template <class... P>
static inline void tidy(Mark& mark, P*... kept) {
    if (call->taken - mark.tidied < MESS) return;
    mark.tidied = call->taken;
    release(mark, kept...);
}

// ---- Arithmetic as Python has it.

static inline i64 floor_div(i64 a, i64 b) {
    if (b == 0) fail(ZERO);
    if (b == -1) return (i64)(0 - (u64)a);
    return a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}
static inline i64 modulo(i64 a, i64 b) {
    if (b == 0) fail(ZERO);
    if (b == -1) return 0;
    i64 r = a % b;
    return r + ((r != 0) & ((r < 0) != (b < 0))) * b;
}
static inline double divided(double a, double b) {
    CHECK(b != 0.0, ZERO);
    return a / b;
}
template <class T>
static inline T shift_left(T a, T by) {
    CHECK(by >= (T)0 && by < (T)64, SHIFT);
    return (T)((u64)a << by);
}
template <class T>
static inline T shift_right(T a, T by) {
    CHECK(by >= (T)0 && by < (T)64, SHIFT);
    return a >> by;
}
template <class T>
static inline T larger(T a, T b) { return b > a ? b : a; }
template <class T>
static inline T smaller(T a, T b) { return b < a ? b : a; }
template <class T>
static inline T absolute(T a) {
    if constexpr (std::is_same_v<T, double>) return std::fabs(a);
    else return a < 0 ? 0 - a : a;
}
static inline std::tuple<double, i64> frexp_(double x) {
    u64 bits;
    memcpy(&bits, &x, 8);
    i64 e = bits >> 52 & 2047;
    if (e == 0 || e == 2047) {
        int power = 0;
        double m = std::frexp(x, &power);
        return {m, power};
    }
    bits = (bits & ~(2047ULL << 52)) | (1022ULL << 52);
    memcpy(&x, &bits, 8);
    return {x, e - 1022};
}
static inline double ldexp_(double x, i64 e) { return std::ldexp(x, (int)(e > 9999 ? 9999 : e < -9999 ? -9999 : e)); }
static inline i64 floor_(double x) { return (i64)std::floor(x); }
static inline i64 ceil_(double x) { return (i64)std::ceil(x); }

// As math.lgamma does it, whose bits these are: Lanczos' approximation with g = 6.02468 and 13 terms. Only above zero.
static double lgamma_(double x) {
    static const double above[] = {
        23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
        35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
        6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
        248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
        2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
        8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
        2.5066282746310002701649081771338373386264310793408};
    static const double below[] = {0,       39916800, 120543840, 150917976, 105258076, 45995730, 13339535,
                                   2637558, 357423,   32670,     1925,      66,        1};
    const double g = 6.024680040776729583740234375;
    if (!(x > 0.0)) return x != x ? x : (fail(POSITIVE), x);
    if (x == 1.0 || x == 2.0) return 0.0;
    if (std::isinf(x) || x < 1e-20) return std::isinf(x) ? x : -std::log(x);
    double a = 0.0, b = 0.0;
    for (int k = 0; k < 13; k++) {
        a = x < 5.0 ? a * x + above[12 - k] : a / x + above[k];
        b = x < 5.0 ? b * x + below[12 - k] : b / x + below[k];
    }
    return std::log(a / b) - g + (x - 0.5) * (std::log(x + g - 0.5) - 1.0);
}

// ---- Arguments: buffers of Python objects, which are held during the call.

static PyObject* as_array;  // numpy.asarray

struct Given {
    Py_buffer* views;
    int held;
    const char* function;
    void close() {
        while (held > 0) PyBuffer_Release(&views[--held]);
    }
};

template <class T>
struct Entry {  // what numpy calls it, and the letters that buffers have for it; the first is given
    typedef std::remove_volatile_t<T> V;
    static constexpr bool is_long = sizeof(long) == sizeof(V);
    static constexpr const char* letters = std::is_same_v<V, double> ? "d"
                                           : std::is_same_v<V, bool> ? "?"
                                           : std::is_signed_v<V>
                                               ? (sizeof(V) == 8 ? (is_long ? "lq" : "q")
                                                                 : sizeof(V) == 4 ? (is_long ? "il" : "i")
                                                                 : sizeof(V) == 2 ? "h" : "b")
                                               : (sizeof(V) == 8 ? (is_long ? "LQ" : "Q") : sizeof(V) == 2 ? "H" : "B");
    static bool is(const Py_buffer& view) {
        const char* format = view.format;
        if (*format == '@' || *format == '=') format++;
        return view.itemsize == sizeof(V) && *format && strchr(letters, *format) && !format[1];
    }
};
template <class T, int N>
static bool take(Given& given, PyObject* object, Array<T, N>& into, bool written, const char* name) {
    Py_buffer* view = &given.views[given.held];
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0)) < 0)
        return false;
    given.held++;
    if (view->ndim != N || !Entry<T>::is(*view)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be an array of '%c' with %d axes, not of '%s' with %d", given.function,
                     name, *Entry<T>::letters, N, view->format, view->ndim);
        return false;
    }
    into.p = (T*)view->buf;
    for (int k = 0; k < N; k++) into.n[k] = view->shape[k];
    return true;
}
static bool take(Given& given, PyObject* object, i64& into, bool, const char* name) {
    PyObject* whole = PyNumber_Index(object);
    into = whole ? PyLong_AsLongLong(whole) : -1;
    Py_XDECREF(whole);
    if (into == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s: %s must be a whole number, not %R", given.function, name, object);
        return false;
    }
    return true;
}
static bool take(Given& given, PyObject* object, double& into, bool, const char* name) {
    into = PyFloat_AsDouble(object);
    if (into == -1.0 && PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be a number, not %R", given.function, name, object);
        return false;
    }
    return true;
}
static bool take(Given&, PyObject* object, bool& into, bool, const char*) {
    int truth = PyObject_IsTrue(object);
    into = truth > 0;
    return truth >= 0;
}
static bool fields(Given& given, PyObject* object, Py_ssize_t count, const char* name) {
    if (PyTuple_Check(object) && PyTuple_Size(object) == count) return true;
    PyErr_Format(PyExc_TypeError, "%s: %s must be a named tuple of %zd fields", given.function, name, count);
    return false;
}

// ---- Results: numbers, and arrays in blocks that now belong to Python.

struct Part {  // a Python object: an array in a block
    PyObject_HEAD
    Block* block;
    char* p;
    char letter[2];
    int axes;
    Py_ssize_t item, shape[3], strides[3];
};
static PyTypeObject* part_type;

static int part_buffer(PyObject* self, Py_buffer* view, int) {
    Part* part = (Part*)self;
    Py_ssize_t bytes = part->item;
    for (int k = 0; k < part->axes; k++) bytes *= part->shape[k];
    *view = {};
    view->buf = part->p;
    view->obj = self;
    Py_INCREF(self);
    view->len = bytes;
    view->itemsize = part->item;
    view->ndim = part->axes;
    view->format = part->letter;
    view->shape = part->shape;
    view->strides = part->strides;
    return 0;
}
static void part_dealloc(PyObject* self) {
    Part* part = (Part*)self;
    if (--part->block->users == 0) free(part->block);
    PyTypeObject* type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

template <class T, int N>
static PyObject* give(Call& done, Given& given, Array<T, N> a) {
    for (int i = 0; i < given.held; i++) {
        Py_buffer& view = given.views[i];
        if (view.buf == (void*)a.p && view.ndim == N && view.len == a.size() * (i64)sizeof(T) && Entry<T>::is(view))
            return Py_NewRef(view.obj);  // an argument, as it came
    }
    Block* block = done.last;
    while (block && !(block->begin() <= (char*)a.p && (char*)a.p <= block->begin() + block->bytes)) block = block->before;
    if (!block) {
        PyErr_SetString(PyExc_SystemError, "a loop may return only arrays that it has made, or all of an argument");
        return nullptr;
    }
    Part* part = (Part*)((allocfunc)PyType_GetSlot(part_type, Py_tp_alloc))(part_type, 0);
    if (!part) return nullptr;
    block->users++;
    part->block = block;
    part->p = (char*)a.p;
    part->letter[0] = *Entry<T>::letters;
    part->axes = N;
    part->item = sizeof(T);
    Py_ssize_t stride = sizeof(T);
    for (int k = N - 1; k >= 0; k--) {
        part->shape[k] = a.n[k];
        part->strides[k] = stride;
        stride *= a.n[k];
    }
    PyObject* made = PyObject_CallFunctionObjArgs(as_array, (PyObject*)part, nullptr);
    Py_DECREF(part);
    return made;
}
static PyObject* give(Call&, Given&, i64 x) { return PyLong_FromLongLong(x); }
static PyObject* give(Call&, Given&, u64 x) { return PyLong_FromUnsignedLongLong(x); }
static PyObject* give(Call&, Given&, double x) { return PyFloat_FromDouble(x); }
static PyObject* give(Call&, Given&, bool x) { return PyBool_FromLong(x); }
template <class... T>
static PyObject* give(Call& done, Given& given, std::tuple<T...> x) {
    PyObject* made = PyTuple_New(sizeof...(T));
    bool good = made != nullptr;
    Py_ssize_t at = 0;
    auto put = [&](auto each) {
        PyObject* object = good ? give(done, given, each) : nullptr;
        good = object && PyTuple_SetItem(made, at++, object) == 0;
    };
    std::apply([&](auto... each) { (put(each), ...); }, x);
    if (good) return made;
    Py_XDECREF(made);
    return nullptr;
}

// Run a loop without the interpreter's lock; null, with an exception set, if it could not go on.
template <class Loop>
static bool run(Call& mine, Loop loop) {
    mine.wrong = nullptr;
    mine.last = nullptr;
    mine.taken = 0;
    PyThreadState* state = PyEval_SaveThread();
    call = &mine;
    if (setjmp(mine.out) == 0) loop();
    PyEval_RestoreThread(state);
    if (!mine.wrong) return true;
    PyObject* kind = mine.wrong == MEMORY ? PyExc_MemoryError
                     : mine.wrong == ZERO ? PyExc_ZeroDivisionError
                     : mine.wrong == INDEX ? PyExc_IndexError
                                           : PyExc_ValueError;
    if (mine.line) PyErr_Format(kind, "%s, line %lld", mine.wrong, mine.line);
    else PyErr_SetString(kind, mine.wrong);
    return false;
}
static PyObject* finished(Call& mine, Given& given, PyObject* result) {
    while (Block* block = mine.last) {  // what is in no result
        mine.last = block->before;
        if (--block->users == 0) free(block);
    }
    given.close();
    return result;
}

static PyType_Slot part_slots[] = {
    {Py_tp_dealloc, (void*)part_dealloc}, {Py_bf_getbuffer, (void*)part_buffer}, {0, nullptr}};
static PyType_Spec part_spec = {"pgm.loops.Part", sizeof(Part), 0, Py_TPFLAGS_DEFAULT, part_slots};

// Whether the processor has all of x86-64-v3, and the system saves its registers. Read here: not every compiler
// can link its own __builtin_cpu_supports into a shared object.
static bool runs_v3() {
#if defined(__x86_64__) && defined(__GNUC__)
    unsigned a, b, c, d, state;
    const unsigned first = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;  // FMA, MOVBE, OSXSAVE, AVX, F16C
    const unsigned seventh = 1u << 3 | 1u << 5 | 1u << 8;                         // BMI1, AVX2, BMI2
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return false;
    __asm__("xgetbv" : "=a"(state), "=d"(d) : "c"(0));
    if ((state & 6) != 6) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & seventh) != seventh) return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & 1u << 5);  // LZCNT
#else
    return false;
#endif
}

static int begin(PyObject* module) {
    PyObject* numpy = PyImport_ImportModule("numpy");
    as_array = numpy ? PyObject_GetAttrString(numpy, "asarray") : nullptr;
    Py_XDECREF(numpy);
    part_type = as_array ? (PyTypeObject*)PyType_FromSpec(&part_spec) : nullptr;
    if (!part_type) return -1;
    return PyModule_AddIntConstant(module, "has_v3", runs_v3());
}
