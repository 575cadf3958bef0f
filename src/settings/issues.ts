import type { z } from 'zod';
import { type Form, formsAt, knownNames, nearest } from './known-names.ts';

/** The value that was parsed, and its schema. */
interface Reading {
  schema: unknown;
  input: unknown;
  /** Names allowed beside the settings in their source, for suggestions. */
  namesBeside: readonly string[];
}

/**
 * Describes the issues of settings.
 * @param issues issues found by the schema
 * @returns a sentence for each, with its place
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

/** Names of JSON types. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a string, in quotes',
  number: 'a number, without quotes',
  int: 'a whole number',
  boolean: 'true or false, without quotes',
  array: 'a list, in [ ]',
  object: 'an object, in { }',
  record: 'an object, in { }',
};

/** Describes the problem of a value; messages of our own stay as they are. */
function describeValue(issue: z.core.$ZodIssue, value: unknown): string {
  const isOwn = !/^(Invalid (input|option): |Too (small|big): )/.test(issue.message);
  if (isOwn) return issue.message;
  if (issue.code === 'invalid_type') return describeType(issue);
  if (issue.code === 'invalid_value') return describeChoice(issue.values, value);
  if (issue.code === 'too_small') return `must ${describeBound(issue.origin, issue.minimum, 'more')}`;
  if (issue.code === 'too_big') return `must ${describeBound(issue.origin, issue.maximum, 'less')}`;
  return issue.message;
}

/** Describes a value that has the wrong type or is missing. */
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

/** Units of sizes, singular and plural. */
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
 * Describes a name that is known at its place, but not together with the other names there: they belong to different
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

/** Returns whether a value has the wrong type, so that nothing in it was checked. */
function isOfOtherKind({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** Describes the issues of the form that was probably meant, if a setting has several. */
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

/**
 * Returns the distance of a value from a form: its number of faults; a name close to one of the form counts as half a
 * fault.
 */
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
 * Runs a check across the settings of an object as soon as these are valid, whatever else is wrong: all problems are
 * reported at once.
 * @param names the settings that the check reads; other values may be anything
 * @returns parameters for `superRefine`
 */
export function whenFieldsValid(...names: readonly string[]): z.core.$ZodSuperRefineParams {
  return {
    when: ({ issues }) =>
      !issues.some(({ code, path: [first] = [] }) =>
        // An issue of the whole object: it is no object, or has unknown names.
        first === undefined ? code !== 'unrecognized_keys' : names.includes(String(first)),
      ),
  };
}

/** The settings are invalid; `problems` names all of them. */
export class SettingsRefused extends Error {
  override name = 'SettingsRefused';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Calls all factories and collects their problems.
 * @returns their results, in order
 * @throws SettingsRefused with the problems of all factories; any other error at once
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
