/** The members of a client that are named in problems, by the options and arguments that give them. */
const flags: Readonly<Record<string, string>> = {
  clientId: '--client-id',
  name: '<name>',
  redirectUris: '--redirect-uri',
  authMethod: '--auth-method',
  grantTypes: '--grant-type',
  jwks: '--jwks-file',
  jwksUri: '--jwks-uri',
  scopes: '--scope',
};

/** Members whose names are no words of a sentence: they are members wherever they stand. */
const codeNames = /\b(clientId|redirectUris|authMethod|grantTypes|jwksUri|jwks)\b/g;

/**
 * Says problems of a client in the words of the command line.
 * @param problems one a line, each beginning with the member it is about and, in a list, its place from 0
 */
export function nameFlags(problems: string): string {
  return problems
    .split('\n')
    .map((problem) =>
      problem
        .replace(/^(\w+)(?:\.(\d+))?:/, (all, member: string, at?: string) => {
          const flag = flags[member];
          if (flag === undefined) return all;
          return at === undefined ? `${flag}:` : `${flag} (number ${Number(at) + 1}):`;
        })
        .replace(codeNames, (member) => flags[member] ?? member),
    )
    .join('\n');
}
