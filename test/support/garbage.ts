import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage now: all of it, or what is young. */
export const collectGarbage = runInNewContext('gc') as (how?: { type: 'minor' }) => void;
