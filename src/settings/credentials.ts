import { z } from 'zod';
import { headerNamePattern, isOwnHeader } from '../oauth/headers.ts';

/** The name of a header that a backend may get. */
export const headerName = z
  .string()
  .regex(headerNamePattern, { error: 'must be the name of a header' })
  .superRefine((name, context) => {
    const isOwn = isOwnHeader(name);
    if (!isOwn && !/^(cookie$|mcp-)/i.test(name)) return;
    const why = isOwn ? 'is set by this server itself' : 'is no place for it';
    const message = `${name} ${why}: name the header that the backend reads, such as authorization or x-api-key`;
    context.addIssue({ code: 'custom', message });
  });

/** Variables that decide which program or library is loaded: their value would decide what runs. */
const loaders =
  /^(PATH|HOME|SHELL|ENV|BASH_ENV|IFS|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT)|RUBY(LIB|OPT)|JAVA_TOOL_OPTIONS|GIT_.*)$/;

/** The name of a variable of the environment. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable of the environment' });

/** The name of a variable for a process that does not decide what runs. */
export const processVariable = variableName.refine((name) => !loaders.test(name), {
  error: 'decides which program runs',
});

const place = z.union([
  z.strictObject({
    header: headerName.describe('header of each request to a backend by URL, such as authorization'),
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]{0,40}$/, { error: 'must be at most 40 printable ASCII characters' })
      .optional()
      .describe('prefix of the value in the header, such as "Bearer "'),
  }),
  z.strictObject({
    env: processVariable.describe('variable of the environment of a program'),
  }),
  z.strictObject({
    auth: variableName.describe('member of _meta.auth of each request to a backend that speaks Rest'),
  }),
]);

const origin = z.union([
  z.literal('person'),
  z.strictObject({
    env: variableName.describe('environment variable of this server; the same for everybody'),
  }),
  z.strictObject({
    file: z
      .string()
      .min(1)
      .describe(
        'file that only its owner can read, relative to the config file, read at each start; the same for everybody',
      ),
  }),
  z.strictObject({
    upstream: z
      .string()
      .min(1)
      .describe('name of an upstream: its access token for the user, refreshed when it has expired'),
    scopes: z
      .array(z.string().min(1))
      .optional()
      .describe('scopes that the token needs; the user is asked to grant missing ones'),
  }),
]);

const credential = z.strictObject({
  label: z.string().min(1).max(60).optional().describe('display name; default: the name of the credential'),
  help: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe('URL of the page on which users get it; shown next to the field'),
  backend: z
    .string()
    .optional()
    .describe('key of the backend that receives it, if the route has several; no other backend receives it'),
  as: place.describe('form in which the backend receives it: header, env or auth'),
  from: origin
    .default('person')
    .describe('source: person (each user enters their own on the account page), env, file or upstream'),
});

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, {
  error: 'must be a name of 1 to 32 letters, digits, _ and -, beginning with a letter',
});

/** Setting: the credentials that a backend receives on behalf of a user. */
export const credentialSettings = z
  .record(name, credential)
  .default({})
  .superRefine((credentials, context) => {
    const places = new Set<string>();
    for (const [of, { as, backend = '' }] of Object.entries(credentials)) {
      const taken = `${backend} ${'header' in as ? as.header.toLowerCase() : JSON.stringify(as)}`;
      if (places.has(taken))
        context.addIssue({ code: 'custom', path: [of, 'as'], message: 'another credential stands there' });
      places.add(taken);
    }
  })
  .describe('Credentials that the backend receives on behalf of the calling user, by name.');

/** The credentials of a backend after parsing. */
export type CredentialSettings = z.output<typeof credentialSettings>;

/**
 * Returns the places of credentials that a backend cannot receive: only a program has variables, only a server by URL
 * has headers, and only one that speaks Rest has `_meta.auth`.
 * @param transport transport of the backend; undefined for a program
 */
export function findMisplaced(credentials: CredentialSettings, transport: string | undefined): string[] {
  const isSeen = (as: CredentialSettings[string]['as']): boolean => {
    if ('env' in as) return transport === undefined;
    if ('header' in as) return transport !== undefined;
    return transport === 'rest' || transport === 'auto';
  };
  return Object.entries(credentials).flatMap(([of, { as }]) => (isSeen(as) ? [] : [`${of}.as`]));
}
