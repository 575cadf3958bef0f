/**
 * Variables of our environment that every process of a backend inherits, if they are set; all others must be named
 * (T-154).
 */
const always = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'] as const;

/** The environment of a backend. */
export interface BackendEnvironment {
  env: Record<string, string>;
  /** Values the operator handed over by name: they are kept out of the log. */
  secrets: string[];
  /** Names that were to be handed over and are not set. */
  missing: string[];
}

/** Shorter values are words of any text, and kept out of nothing. */
const minSecretLength = 6;

/**
 * Makes the environment of a backend out of ours.
 * @param given what it gets beside PATH, HOME, LANG, TERM and TMPDIR: names of ours, or variables with their values
 * @param ours environment of this process
 */
export function backendEnvironment(
  given: readonly string[] | Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string | undefined>>,
): BackendEnvironment {
  if (isNames(given)) return byName(given, ours);
  const { env, secrets } = byName([], ours);
  return { env: { ...env, ...given }, secrets: [...secrets, ...secretsOf(given)], missing: [] };
}

/**
 * Returns what must not stand in the log of the values of variables: a value that has lines is logged by its lines, as
 * keys in PEM are.
 */
export function secretsOf(env: Readonly<Record<string, string>>): string[] {
  return Object.values(env)
    .flatMap((value) => value.split(/[\r\n]+/))
    .map((line) => line.trim())
    .filter(({ length }) => length >= minSecretLength);
}

function isNames(given: readonly string[] | Readonly<Record<string, string>>): given is readonly string[] {
  return Array.isArray(given);
}

/**
 * A value of one line loses its final line end; a value of several lines is a key or similar, and some readers need the
 * last line end.
 */
function withoutLineEnd(value: string): string {
  return value.replace(/^([^\r\n]*)[\r\n]+$/, '$1');
}

function byName(
  names: readonly string[],
  ours: Readonly<Record<string, string | undefined>>,
): BackendEnvironment {
  const env: Record<string, string> = {};
  for (const name of [...always, ...names]) {
    const value = Object.hasOwn(ours, name) ? ours[name] : undefined;
    if (value !== undefined) env[name] = withoutLineEnd(value);
  }
  const isGiven = (name: string): boolean => Object.hasOwn(env, name);
  const handedOver = Object.fromEntries(names.filter(isGiven).map((name) => [name, String(env[name])]));
  return {
    env,
    secrets: secretsOf(handedOver),
    missing: names.filter((name) => !isGiven(name)),
  };
}
