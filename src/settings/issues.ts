import type { z } from 'zod';
import { type Form, formsAt, knownNames, nearest } from './known-names.ts';

/** What was read, and as what. */
interface Reading {
  schema: unknown;
  input: unknown;
  /** What may stand beside the settings where they were taken from, for whoever misspells it. */
  namesBeside: readonly string[];
}

/**
 * Says what is wrong with settings.
 * @param issues what the schema found
 * @returns a sentence each, with the place it is at
 */
export function describeIssues(issues: readonly z.core.$ZodIssue[], reading: Reading): string[] {
  return issues.flatMap((issue) => describeIssue(issue, reading));
}

function describeIssue(issue: z.core.$ZodIssue, reading: Reading): string[] {
  const place = issue.path.join('.');
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => `${place}: ${message}`);
  if (issue.code === 'invalid_union') return describeNearestForm(issue, reading);
  if (issue.code !== 'unrecognized_keys')
    return [`${place || 'settings'}: ${describeValue(issue, valueAt(reading.input, issue.path))}`];
  return issue.keys.map((key) => {
    const name = place ? `${place}.${key}` : key;
    const misfit = describeMisfit(key, issue.path, reading);
    if (misfit !== undefined) return `${name}: ${misfit}`;
    const beside = place ? [] : reading.namesBeside;
    const suggestion = nearest(key, [...knownNames(reading.schema, issue.path), ...beside]);
    return `${name}: there is no such setting${suggestion ? `; did you mean ${suggestion}?` : ''}`;
  });
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<PropertyKey, unknown> | null | undefined)?.[step],
    input,
  );
}

/** Kinds of values, as JSON has them. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a string, in quotes',
  number: 'a number, without quotes',
  int: 'a whole number',
  boolean: 'true or false, without quotes',
  array: 'a list, in [ ]',
  object: 'an object, in { }',
  record: 'an object, in { }',
};

/** What is wrong with a value; a sentence of our own stays as it is. */
function describeValue(issue: z.core.$ZodIssue, value: unknown): string {
  const isOwn = !/^(Invalid (input|option): |Too (small|big): )/.test(issue.message);
  if (isOwn) return issue.message;
  if (issue.code === 'invalid_type') return describeType(issue);
  if (issue.code === 'invalid_value') return describeChoice(issue.values, value);
  if (issue.code === 'too_small') return `must ${describeBound(issue.origin, issue.minimum, 'more')}`;
  if (issue.code === 'too_big') return `must ${describeBound(issue.origin, issue.maximum, 'less')}`;
  return issue.message;
}

/** A value of the wrong kind, or one that is not there. */
function describeType({ expected, message }: z.core.$ZodIssueInvalidType): string {
  const received = /, received (.*)$/.exec(message)?.[1];
  const kind = kinds[expected];
  if (received === undefined || kind === undefined) return message;
  return received === 'undefined' ? `is missing: it takes ${kind}` : `must be ${kind}`;
}

function describeChoice(values: readonly unknown[], value: unknown): string {
  const known = values.filter((each) => typeof each === 'string');
  const suggestion = typeof value === 'string' ? nearest(value, known) : undefined;
  const choice = listed(values.map((each) => JSON.stringify(each)));
  return `must be ${choice}${suggestion ? `; did you mean ${JSON.stringify(suggestion)}?` : ''}`;
}

/** What things of a kind consist of, one and several. */
const units: Readonly<Record<string, readonly [string, string]>> = { string: ['character', 'characters'] };

function describeBound(origin: string, bound: number | bigint, beyond: 'more' | 'less'): string {
  if (origin === 'number' || origin === 'int') return `be ${bound} or ${beyond}`;
  if (beyond === 'more' && bound === 1) return 'not be empty';
  const [one, several] = units[origin] ?? ['entry', 'entries'];
  return `have ${bound} ${bound === 1 ? one : several} or ${beyond}`;
}

function listed(words: readonly string[]): string {
  const joint = words.some((word) => word.includes(', ')) ? ', or ' : ' or ';
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(joint);
}

/**
 * What is wrong with a setting that is known at its place, but not beside others that are there: they are of different
 * forms.
 */
function describeMisfit(key: string, path: readonly PropertyKey[], reading: Reading): string | undefined {
  const forms = formsAt(reading.schema, path);
  const own = forms.filter(({ names }) => names.includes(key));
  if (own.length === 0) return undefined;
  const others = Object.keys(valueAt(reading.input, path) ?? {}).filter(
    (name) =>
      forms.some(({ names }) => names.includes(name)) && !own.some(({ names }) => names.includes(name)),
  );
  const isNeeded = (name: string): boolean => forms.some(({ needed }) => needed.includes(name));
  const other = others.find(isNeeded) ?? others[0];
  if (other === undefined) return undefined;
  return isNeeded(key)
    ? `does not go with ${other}: set one of them`
    : `goes with ${listed(own.flatMap(({ needed }) => needed))}, not with ${other}`;
}

/** Whether nothing in a value was looked at, as its kind fits nothing. */
function isOfOtherKind({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** Of the forms a setting can have, the one that was probably meant: what is wrong with it. */
function describeNearestForm(union: z.core.$ZodIssueInvalidUnion, reading: Reading): string[] {
  const { path, errors } = union;
  const place = path.join('.');
  const forms = formsAt(reading.schema, path);
  const tried = errors
    .map((issues, at) => ({ issues, form: forms[at], distance: distanceOf(issues, forms[at]) }))
    .filter(({ issues }) => !issues.some(isOfOtherKind))
    .sort((one, other) => one.distance - other.distance);
  const [first] = tried;
  if (!first) {
    const isMissing = valueAt(reading.input, path) === undefined;
    return [`${place}: ${isMissing ? 'is missing: it takes' : 'must be'} ${listed(forms.map(describeForm))}`];
  }
  const near = tried.filter(({ distance }) => distance === first.distance);
  const missing = near.map(({ issues, form }) => missingIn(issues, form));
  const isOpen = near.length > 1 && missing.every((names) => names.length > 0);
  const rest = isOpen ? first.issues.filter(({ code }) => code === 'unrecognized_keys') : first.issues;
  return [
    ...(isOpen ? [`${place}: needs ${listed(missing.flat())}`] : []),
    ...describeIssues(
      rest.map((issue) => ({ ...issue, path: [...path, ...issue.path] })),
      reading,
    ),
  ];
}

/** How far a value is from a form: its faults, where a name that is nearly one of the form is half of one. */
function distanceOf(issues: readonly z.core.$ZodIssue[], form: Form | undefined): number {
  const weigh = (key: string): number => (nearest(key, form?.names ?? []) === undefined ? 1 : 0.5);
  return issues
    .flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(weigh) : [1]))
    .reduce((sum, weight) => sum + weight, 0);
}

function missingIn(issues: readonly z.core.$ZodIssue[], form: Form | undefined): string[] {
  const faulty = issues.flatMap(({ path, message }) =>
    path.length === 1 && message.endsWith(', received undefined') ? [String(path[0])] : [],
  );
  return faulty.filter((name) => form?.needed.includes(name));
}

function describeForm({ kind = '', values, needed }: Form): string {
  if (values) return listed(values.map((value) => JSON.stringify(value)));
  if (needed.length > 0) return `{ ${needed.map((name) => `"${name}": …`).join(', ')} }`;
  return kinds[kind] ?? kind;
}

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

/** Settings that cannot be used; every problem is named at once. */
export class SettingsRefused extends Error {
  override name = 'SettingsRefused';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Makes all of something that settings ask for.
 * @returns what they made, in their order
 * @throws SettingsRefused with the problems of all that are refused; what others throw, at once
 */
export function makeAll<T>(makes: readonly (() => T)[]): T[] {
  const problems: string[] = [];
  const made = makes.flatMap((make) => {
    try {
      return [make()];
    } catch (error) {
      if (!(error instanceof SettingsRefused)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new SettingsRefused(problems);
  return made;
}
