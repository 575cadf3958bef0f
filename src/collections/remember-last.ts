/**
 * Gives a function that remembers what it gave last: asked for the same again, as within one request, it does not work it out
 * anew.
 * @param compute gives the same for the same text, whenever it is asked
 */
export function rememberLast<Result>(compute: (text: string) => Result): (text: string) => Result {
  let last: { text: string; result: Result } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
}
