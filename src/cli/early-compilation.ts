import { setFlagsFromString } from 'node:v8';

/**
 * How often a function is called before each of V8's optimizing compilers takes it, and how often after it met a kind of
 * value that was new to it. V8 waits for 400, 3000 and 500 calls.
 */
const calls = {
  'invocation-count-for-maglev': 50,
  'invocation-count-for-turbofan': 300,
  'minimum-invocations-after-ic-update': 100,
};

/**
 * Has V8 compile functions sooner than in programs that end soon: what a server has called a hundred times is called
 * for weeks, and until it is compiled, each request takes up to twice as long.
 * @see `node --v8-options`
 */
export function compileEarly(): void {
  for (const [flag, count] of Object.entries(calls)) setFlagsFromString(`--${flag}=${count}`);
}
