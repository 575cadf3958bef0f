import { z } from 'zod';
import { headerNameForm } from '../oauth/header-form.ts';
import { isOwnHeader } from '../oauth/own-headers.ts';

const headerName = z
  .string()
  .regex(headerNameForm, { error: 'must be the name of a header' })
  .superRefine((name, context) => {
    const isOwn = isOwnHeader(name);
    if (!isOwn && !/^(cookie$|mcp-)/i.test(name)) return;
    const why = isOwn ? 'is set by this server itself' : 'is no place for a credential';
    const message = `${name} ${why}: name the header in which the backend looks for the credential, such as authorization or x-api-key`;
    context.addIssue({ code: 'custom', message });
  });

/** Variables that say how a program is found or loaded: whoever sets one decides what runs. */
const loaders =
  /^(PATH|HOME|SHELL|ENV|BASH_ENV|IFS|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT)|RUBY(LIB|OPT)|JAVA_TOOL_OPTIONS|GIT_.*)$/;

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable of the environment' });

const place = z.union([
  z.strictObject({
    header: headerName.describe('header of each request to a backend by URL, such as authorization'),
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]{0,40}$/, { error: 'must be at most 40 printable ASCII characters' })
      .optional()
      .describe('what stands before the value in the header, such as "Bearer "'),
  }),
  z.strictObject({
    env: variableName
      .refine((name) => !loaders.test(name), { error: 'decides which program runs' })
      .describe('variable of the environment of a program'),
  }),
  z.strictObject({
    auth: variableName.describe('member of _meta.auth of each request to a backend that speaks Rest'),
  }),
]);

const origin = z.union([
  z.literal('person'),
  z.strictObject({
    env: variableName.describe('variable of the environment of this server; the same for everybody'),
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
      .describe('an upstream: the token it gave for the person, renewed where it has ended'),
    scopes: z
      .array(z.string().min(1))
      .optional()
      .describe('what it must have been given for; the person is asked where it was not'),
  }),
]);

const credential = z.strictObject({
  label: z.string().min(1).max(60).optional().describe('what people call it; its name where left out'),
  help: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe('where people get it; stands on the page where they enter it'),
  backend: z
    .string()
    .optional()
    .describe('which of the backends of the route gets it, where it has several; no other sees it'),
  as: place.describe('where the backend looks for it: header, env or auth'),
  from: origin
    .default('person')
    .describe(
      'where it comes from: person (each enters their own on the account page), env, file or upstream',
    ),
});

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, {
  error: 'must be a name of 1 to 32 letters, digits, _ and -, beginning with a letter',
});

/** What a backend is given on behalf of a person. */
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
  .describe('What it is given on behalf of the person who calls, by name.');

/** Credentials of a backend, as they were set. */
export type CredentialSettings = z.output<typeof credentialSettings>;

/**
 * Names the credentials that a backend would never see, each by its place: only a program has variables, only a server by
 * URL headers, and only one that speaks Rest `_meta.auth`.
 * @param transport how the backend is spoken to; undefined for a program
 */
export function findMisplaced(credentials: CredentialSettings, transport: string | undefined): string[] {
  const isSeen = (as: CredentialSettings[string]['as']): boolean => {
    if ('env' in as) return transport === undefined;
    if ('header' in as) return transport !== undefined;
    return transport === 'rest' || transport === 'auto';
  };
  return Object.entries(credentials).flatMap(([of, { as }]) => (isSeen(as) ? [] : [`${of}.as`]));
}
