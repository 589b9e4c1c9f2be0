// SPDX-License-Identifier: Apache-2.0
// Reads packets as words, runs them through one program, writes the number of packets that ended, their words and all cells.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef PLAIN
#define NUMBER int
static unsigned bits(int value) { return (unsigned) value; }
static unsigned bits(unsigned value) { return value; }
#else
#define NUMBER Int
#endif
static void put(unsigned word) { fwrite(&word, 4, 1, stdout); }
extern void (*const runs[])(unsigned *);
extern void (*const dumps[])();
static jmp_buf stop;
#ifdef PLAIN
// The sanitizer calls this function with each report.
extern "C" void __ubsan_on_report() { longjmp(stop, 1); }
#endif
int main(int count, char **arguments) {
  (void) count;
  int number = atoi(arguments[1]), fields = atoi(arguments[2]), packets = atoi(arguments[3]);
  size_t total = (size_t) fields * packets;
  unsigned *words = (unsigned *) malloc(total * 4 + 4);
  if (fread(words, 4, total, stdin) != total) return 1;
  static volatile int done;
  if (setjmp(stop) == 0)
    for (; done < packets; done++) runs[number](words + (size_t) done * fields);
  put(done);
  fwrite(words, 4, (size_t) done * fields, stdout);
  if (done == packets) dumps[number]();
  return 0;
}
