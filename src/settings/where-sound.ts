import type { z } from 'zod';

/**
 * Has a check across settings of an object run as soon as these are right, whatever is wrong beside them: all problems are
 * told at once.
 * @param names the settings it looks at; others it is given may be anything
 * @returns parameters for `superRefine`
 */
export function whereSound(...names: readonly string[]): z.core.$ZodSuperRefineParams {
  return {
    when: ({ issues }) =>
      !issues.some(({ code, path: [first] = [] }) =>
        // About the whole: it is no object, or has names that are unknown.
        first === undefined ? code !== 'unrecognized_keys' : names.includes(String(first)),
      ),
  };
}
