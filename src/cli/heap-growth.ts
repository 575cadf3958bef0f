import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 make the space for new objects as large as a server needs in one step, once more lives in it than it can hold. By
 * itself it takes steps of two, and begins anew after half a minute in which nobody calls: then the calls of the next
 * ten seconds take twice as long, as what they leave behind is collected every few milliseconds. What the space gives back
 * while nobody calls stays as it is.
 * @see `node --v8-options`, semi-space-growth-factor
 */
export function growHeapAtOnce(): void {
  setFlagsFromString('--semi-space-growth-factor=16');
}
