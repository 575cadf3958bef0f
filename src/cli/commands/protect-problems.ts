/** Settings of the route, and what they were given as; the first that fits counts. */
const givenAs: readonly (readonly [RegExp, string])[] = [
  [/^backend: (?=The environment has no )/, '--env: '],
  [/^backend\.env(\.\d+)?: /, '--env: '],
  [/^backend\.process: /, '--process: '],
  [/^backend\.maxProcesses: /, '--max-processes: '],
  [/^backend\.url: /, 'the URL: '],
  [/^backend(\.command)?: /, 'the command: '],
  [/^backend\.args(\.\d+)?: /, 'the arguments of the command: '],
  [/^name: /, '--name: '],
];

/**
 * Tells what is wrong with the settings of `gatehouse protect` in the words in which they were given: people wrote no route.
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
    const [setting, words] = givenAs.find(([pattern]) => pattern.test(rest)) ?? [];
    return setting && words !== undefined ? rest.replace(setting, words) : problem;
  });
}
