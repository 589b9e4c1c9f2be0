// SPDX-License-Identifier: Apache-2.0
// Domino's numbers and arrays as classes: 32 bits, wrapping, with a value for each case that C leaves undefined.
template <bool is_unsigned> struct Number {
  unsigned word;
  Number() : word(0) {}
  Number(int value) : word((unsigned) value) {}
  Number(unsigned value) : word(value) {}
  Number(bool value) : word(value) {}
  template <bool other> Number(Number<other> value) : word(value.word) {}
  explicit operator bool() const { return word != 0; }
  Number &operator++() { word += 1u; return *this; }
  Number &operator--() { word -= 1u; return *this; }
  Number operator++(int) { Number old = *this; word += 1u; return old; }
  Number operator--(int) { Number old = *this; word -= 1u; return old; }
};
typedef Number<false> Int;
typedef Number<true> Uns;
static unsigned bits(Int value) { return value.word; }
static unsigned bits(Uns value) { return value.word; }
static unsigned bits(int value) { return (unsigned) value; }
static unsigned bits(unsigned value) { return value; }
static unsigned bits(bool value) { return value; }
template <class T> struct kind;
template <> struct kind<int> { static const bool is_number = false, is_unsigned = false; };
template <> struct kind<bool> { static const bool is_number = false, is_unsigned = false; };
template <> struct kind<unsigned> { static const bool is_number = false, is_unsigned = true; };
template <bool sign> struct kind<Number<sign>> { static const bool is_number = true, is_unsigned = sign; };
template <bool condition, class T> struct only_if {};
template <class T> struct only_if<true, T> { typedef T type; };
template <class T> static unsigned word_of(T value) { return Number<kind<T>::is_unsigned>(value).word; }
template <class A, class B> struct common {
  static const bool is_number = kind<A>::is_number || kind<B>::is_number;
  static const bool is_unsigned = kind<A>::is_unsigned || kind<B>::is_unsigned;
  typedef Number<is_unsigned> type;
};
#define ARITHMETIC(op)                                                                                       \
  template <class A, class B>                                                                                \
  static typename only_if<common<A, B>::is_number, typename common<A, B>::type>::type operator op(A a, B b) { \
    return word_of(a) op word_of(b);                                                                          \
  }
ARITHMETIC(+) ARITHMETIC(-) ARITHMETIC(*) ARITHMETIC(&) ARITHMETIC(|) ARITHMETIC(^)
#define COMPARISON(op)                                                                          \
  template <class A, class B>                                                                   \
  static typename only_if<common<A, B>::is_number, Int>::type operator op(A a, B b) {           \
    unsigned x = word_of(a), y = word_of(b);                                                    \
    return (int) (common<A, B>::is_unsigned ? x op y : (int) x op (int) y);                     \
  }
COMPARISON(==) COMPARISON(!=) COMPARISON(<) COMPARISON(>) COMPARISON(<=) COMPARISON(>=)
template <class A, class B>
static typename only_if<common<A, B>::is_number, typename common<A, B>::type>::type operator/(A a, B b) {
  unsigned x = word_of(a), y = word_of(b);
  if (y == 0) return 0;
  if (common<A, B>::is_unsigned) return x / y;
  if (y == 0xffffffffu) return 0u - x;
  return (int) x / (int) y;
}
template <class A, class B>
static typename only_if<common<A, B>::is_number, typename common<A, B>::type>::type operator%(A a, B b) {
  unsigned x = word_of(a), y = word_of(b);
  if (y == 0) return 0;
  if (common<A, B>::is_unsigned) return x % y;
  if (y == 0xffffffffu) return 0;
  return (int) x % (int) y;
}
template <class A, class B>
static typename only_if<common<A, B>::is_number, Number<kind<A>::is_unsigned>>::type operator<<(A a, B b) {
  unsigned count = word_of(b);
  return count < 32 ? word_of(a) << count : 0u;
}
template <class A, class B>
static typename only_if<common<A, B>::is_number, Number<kind<A>::is_unsigned>>::type operator>>(A a, B b) {
  unsigned x = word_of(a), count = word_of(b);
  if (kind<A>::is_unsigned) return count < 32 ? x >> count : 0u;
  return (int) x >> (count < 32 ? count : 31);
}
template <bool sign> static Number<sign> operator-(Number<sign> a) { return 0u - a.word; }
template <bool sign> static Number<sign> operator+(Number<sign> a) { return a; }
template <bool sign> static Number<sign> operator~(Number<sign> a) { return ~a.word; }
template <bool sign> static Int operator!(Number<sign> a) { return (int) (a.word == 0); }
#define COMPOUND(op) \
  template <bool sign, class B> static Number<sign> &operator op##=(Number<sign> &a, B b) { return a = a op b; }
COMPOUND(+) COMPOUND(-) COMPOUND(*) COMPOUND(/) COMPOUND(%) COMPOUND(&) COMPOUND(|) COMPOUND(^) COMPOUND(<<) COMPOUND(>>)
// An array. A cell outside of it reads 0 and keeps nothing.
template <class T, unsigned size> struct Cells {
  T cells[size];
  T outside;
  Cells() {}
  template <class... Values> Cells(Values... values) : cells{T(values)...} {}
  template <class I> T &operator[](I index) {
    unsigned at = word_of(index);
    if (at < size) return cells[at];
    outside = 0;
    return outside;
  }
};
