import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHarmlessAwk } from "./awk-programs.ts";

describe("an awk program", () => {
  it("may compute and print", () => {
    for (const program of [
      "{print}",
      "$1 || $2",
      "$1 > 3",
      "$1 > 3 {print}",
      "{if ($1 > 3) print}",
      "{while ($1 > 3) print}",
      "{x = $1 > 3; print}",
      "{print; if ($1 > 3) print}",
      '{printf "%s", $1}',
      '{if ("a" > 3) print; print}',
      "/foo/ {print $2}",
      "/a[^b]c/",
      "!seen[$0]++",
      "NR>=10 && NR<=20",
      "NR==1,NR==5",
      "{s+=$1} END{print s/NR}",
      'BEGIN{FS=":"} {print $1, $NF}',
      "{print length($0)}",
      "{a[$1]++} END{for (k in a) print k, a[k]}",
      '{gsub(/foo/, "bar"); print}',
      "function f(x) { return x*2 } {print f($1)}",
      "func f(x) { return x } {print f($1)}",
      "{ print ($1 > 2) }",
      "{ print a[$1 > 2] }",
      "{print; x = $1 > 3}",
      "{print} $1 > 3",
      "/^## /{f=0} f; /^## X/{f=1}",
      "length > 80",
      "{print length / 2}",
      '{$1=""; print substr($0,2)}',
      "{print (a+b)/2, c/2}",
      "# x\n{print $1}\n",
      '/[[:space:]]x/ { print FILENAME ":" FNR }',
      "{if (x) /re/ ; print}",
      "{ TOTAL += $1 } END { print TOTAL }",
      "$0 ~ /a\\/b/ {print}",
      "{print $1\n}",
      "{print $1\nx = $2 > 3}",
      "{print x++\ny = 1 > 0}",
      "{print f(1)\ny = 1 > 0} function f(x){}",
      "BEGIN { while (i < 3) { i++; print i } }",
      "{print a[1]\ny = 1 > 0}",
      "{ n = $1/2 } n > 3",
      "{ y = a[1]/2/3 }",
      "{ y = f / 2 }",
      "{ return /x/ }",
      "{ exit /x/ }",
      "{ if (a) print; else /x/ }",
      "{ print \\\n $1 }",
      '{ print "a\\"b" }',
      "/[\\]]/",
      "{ print 1.5e3, .5 }",
      "{ A = 1; ABC2 = 2; _X = 3; Mixed = 4 }",
    ])
      assert.equal(isHarmlessAwk(program), true, program);
  });

  it("may not write, run, read elsewhere or show variables of the environment", () => {
    for (const program of [
      '{system("x")}',
      'system ("x")',
      '{"x" | getline}',
      "getline",
      '{getline x < "f"}',
      'BEGIN{print ENVIRON["x"]}',
      "{print PROCINFO}",
      "{ARGV[1]=1}",
      "{ARGC=3}",
      "{ TEXTDOMAIN = 1 }",
      "{ print SYMTAB }",
      '@include "x"',
      '{print | "x"}',
      "{x |& y}",
      '{print > "x"}',
      '{print >> "x"}',
      "{x >> y}",
      '{if ($1 > 3) print > "x"}',
      '{printf("%s", $1) > "x"}',
      "{print $1 > $2}",
      '{print(1)(2) > "x"}',
      "{print a in b > c}",
      "{ nosuch(1) }",
      "{ nosuch (1) }",
      'BEGIN{close("x")}',
      "BEGIN{fflush()}",
      '{print;print>"x"}',
      "{print -1 > x}",
      '{ printf "a" > ("x") }',
      '{print $1 ; } END { print "a" > "b" }',
      "{ print a[1] > b }",
      "{print x++ > c}",
      "{ print (a > b) > c }",
    ])
      assert.equal(isHarmlessAwk(program), false, program);
  });

  it("is not taken for less than it is, however it is written", () => {
    for (const program of [
      "# if (\n{ print 1 > f # )\n}", // a condition that stands in a comment
      '{print a,\n b > "x"}',
      '{print (a\n) > "x"}', // a line that some versions let end within brackets
      '{print a ? b :\n c > "x"}',
      '{print a &&\n b > "x"}',
      '{ print \\\n > "x" }', // lines that go on
      '{ y = x++ /"/ ; print > "f" ; z = 1 / "/" }', // a slash that may divide or start a pattern
      '{if (x) /"/ ; print > "f" ; x ~ /"/}',
      '{if ((x)) /"/ ; print > "f" ; x ~ /"/}',
      '{ y = x++ / 2; print > "f"; z = 1 / 2 }',
      '{ y = x-- / 2; print > "f"; z = 1 / 2 }',
      '{ y = (a) / 2; print > "f"; z = 1 / 2 }',
      '{ print /"/ ; print > "f" ; x = /"/ }',
      '{ y = a[1] / 2; print > "f"; z = 1 / 2 }',
      '{ y = 1 / 2; print > "f"; z = 1 / 2 }',
      '{if (x) (a) / 2; print > "f"; z = 1 / 2}',
      '/[/]"/ {print > "f"} /"/',
      '/[]/]"/ {print > "f"} /"/',
      '/[[:x:]/]"/', // a slash in brackets
      "# a\\\n{print > f}",
      "# a\\\n{print}", // a comment that may go on
      "{print `x`}",
      '{print "x}',
      "{print 'x'}",
      "/x",
    ])
      assert.equal(isHarmlessAwk(program), false, program);
  });
});
