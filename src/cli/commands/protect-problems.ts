/** Settings of the route, and what they were given as; the first that fits counts. */
const givenAs: readonly (readonly [RegExp, string])[] = [
  [/^backend(?=: The environment has no )/, '--env'],
  [/^backend\.env(\.\d+)?(?=: )/, '--env'],
  [/^backend\.process(?=: )/, '--process'],
  [/^backend\.maxProcesses(?=: )/, '--max-processes'],
  [/^backend\.url(?=: )/, 'the URL'],
  [/^backend(\.command)?(?=: | \()/, 'the command'],
  [/^backend\.args(\.\d+)?(?=: )/, 'the arguments of the command'],
  [/^name(?=: )/, '--name'],
];

/** Settings that a sentence says to write, and what is written in their place. */
const writtenAs: readonly (readonly [RegExp, string])[] = [
  [/, or name the variable in env\.$/, ', or hand the variable over with --env.'],
  [/ by name in \S+, or with (--env .+) for gatehouse protect\.$/, ' with $1.'],
];

/**
 * Tells what is wrong, or probably wrong, with the settings of `gatehouse protect` in the words in which they were given:
 * people wrote no route.
 * @param problems a sentence each, with the place it is at
 * @param route the name that what is protected has among the routes
 */
export function retellProblems(problems: readonly string[], route: string): string[] {
  const place = `routes.${route}.`;
  return problems.map((problem) => {
    const [, name, other] =
      /^routes\.([\w-]+)\.path: \/ is the path of ([\w-]+) already$/.exec(problem) ?? [];
    const atRoot = [name, other].find((each) => each !== route);
    if (atRoot !== undefined && [name, other].includes(route))
      return `routes.${atRoot}.path: / is where gatehouse protect puts what it is given; set another path, such as /${atRoot}`;
    if (!problem.startsWith(place)) return problem;
    const rest = problem.slice(place.length);
    const given = givenAs.find(([pattern]) => pattern.test(rest));
    if (given === undefined) return problem;
    return writtenAs.reduce((told, [advised, words]) => told.replace(advised, words), rest.replace(...given));
  });
}
