import { describe } from "node:test";
import { itHolds } from "../../../../test/support/it-holds.ts";
import { parseCommand } from "./parse-command.ts";
import { rowOf } from "./program-table.ts";
import { makeVariableRisk, sedRisk, sqliteRisk, urlRisk } from "./script-risks.ts";
import type { ShellWord } from "./shell-words.ts";

// biome-ignore format: a list
const commands: Readonly<Record<string, readonly string[]>> = {
  "an address for curl is a pattern": [
    "curl '{a,b}'", "curl '{https,file}://x'", "curl '[a-b]'", "curl 'htt{p,ps}://x'",
  ],
  "an address for wget is a pattern": [
    "wget -O a '%output{x}'", "wget '%output{x}' y",
  ],
  "curl may read or reach a:b": [
    "curl -o a:b https://x.org",
  ],
  "curl may read or reach file:///etc/passwd": [
    "curl file:///etc/passwd",
  ],
  "curl may read or reach file:///x": [
    "curl --url=file:///x", "curl --url file:///x",
  ],
  "curl may read or reach ftp://x.org": [
    "curl ftp://x.org",
  ],
  "curl may read or reach x.org:80a": [
    "curl x.org:80a",
  ],
  "curl would write another file": [
    "curl -w '%output{x}' https://x.org", "curl -w '%OUTPUT{x}' https://x.org", "curl x '%output{y}'",
  ],
  "fine": [
    "sed p a", "sed -n p a", "sed -i p a", "sed -i.bak p a", "sed --in-place=.b p a", "sed -e p -e d a", "sed -e p e",
    "sed p \"$x\"", "sed", "sqlite3 a.db 'select 1'", "sqlite3 -json a.db 'select 1'", "sqlite3 \"$x\" 'select 1'",
    "sqlite3 a.db 'vacuum'", "sqlite3 a.db 'select attached'", "curl https://x.org", "curl http://x.org",
    "curl HTTPS://x.org", "curl x.org:80/a", "curl x.org:80", "curl x.org", "curl -H 'Accept: x' https://x.org",
    "curl -H Accept:x https://x.org", "curl -d a:b https://x.org", "curl -sH Accept:x https://x.org",
    "curl --header Accept:x https://x.org", "curl --data-raw a:b https://x.org", "curl --url=https://x.org", "curl -x:y",
    "curl 'a b:c'", "curl 'https://x.org/{a,b}'", "curl -d '{\"a\":1}' https://x.org", "curl -d '[1]' https://x.org",
    "curl '-{'", "curl \"https://$x\"", "wget https://x.org", "wget --post-data a:b https://x.org", "make", "make a",
    "make -j4 a", "make A=1", "make A=b.c-d,e", "make A:=1", "make -C=x", "make =x", "make A=",
  ],
  "make A+= can run something else": [
    "make a A+=1",
  ],
  "make A.B= can run something else": [
    "make A.B=1",
  ],
  "make A= can run something else": [
    "make A='$(x)'", "make A='x y'", "make \"A=$x\"",
  ],
  "make A?= can run something else": [
    "make A?=1",
  ],
  "make A~= can run something else": [
    "make A~=1",
  ],
  "make CC= can run something else": [
    "make CC=x",
  ],
  "make MAKEFLAGS= can run something else": [
    "make MAKEFLAGS=x",
  ],
  "make MYCMD= can run something else": [
    "make MYCMD=x",
  ],
  "make SHELL= can run something else": [
    "make SHELL=x",
  ],
  "make cflags= can run something else": [
    "make cflags=x",
  ],
  "sed takes its script from a file": [
    "sed -f x a", "sed --file=x a",
  ],
  "sed would keep the old files elsewhere": [
    "sed -i'/x/*' p a", "sed -i*.bak p a", "sed --in-place=/x p a", "sed \"-i$x\" p a",
  ],
  "sqlite3 may run programs or use other files": [
    "sqlite3 a.db .tables", "sqlite3 a.db 'select 1; .shell x'", "sqlite3 a.db 'select 1' '.shell x'",
    "sqlite3 a.db \"$x\"", "sqlite3 a.db 'ATTACH x'", "sqlite3 a.db \"select readfile('x')\"",
    "sqlite3 a.db \"select writefile('x')\"", "sqlite3 a.db 'vacuum into x'", "sqlite3 a.db 'pragma x'",
  ],
  "sqlite3 would take what it does from its input": [
    "sqlite3", "sqlite3 a.db", "sqlite3 -json \"$x\"", "sqlite3 -a -b",
  ],
  "the script of sed may run or write something": [
    "sed e a", "sed -e p -e e a", "sed --expression=e a", "sed \"$x\" a", "sed -e \"$x\" a", "sed *.sed a",
  ],
  "wget may read or reach file:///x": [
    "wget file:///x",
  ],
};

function riskOf(name: string, words: readonly ShellWord[]): string | undefined {
  const row = rowOf(name);
  if (name === "sed" && row) return sedRisk(words, row);
  if (name === "sqlite3") return sqliteRisk(words);
  return name === "make" ? makeVariableRisk(words) : urlRisk(name, words);
}

describe("what a program is told under a general rule", () => {
  for (const [result, list] of Object.entries(commands))
    itHolds(`is ${result}`, list, async (command) => {
      const [name, ...rest] = parseCommand(command).programs[0]?.words ?? [];
      const risk = riskOf(name?.text ?? "", rest) ?? "fine";
      return risk === result ? undefined : `${command}: ${risk}`;
    });
});
