import type { RouteForms } from '../authorization-server/index.ts';
import { accountMark } from '../crypto/secret.ts';
import {
  checkFits,
  createCredentials,
  createPersonValue,
  createUpstreamValue,
  type EnteredValues,
  type PersonalCredentials,
  type PlacedValue,
  readOperatorValue,
  type UpstreamTokenSource,
} from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { CredentialSettings } from '../settings/credentials.ts';
import { SettingsRefused } from '../settings/issues.ts';

/** What the credentials of routes are composed of. */
export interface RouteCredentialsParts {
  /** The public URL. */
  issuer: string;
  /** Environment of this process. */
  environment: Readonly<Record<string, string | undefined>>;
  /** What people have entered. */
  entered: EnteredValues;
  /** Names of the upstreams in the settings. */
  upstreams: readonly string[];
  /** Gives what people call an upstream. */
  labelOf(upstream: string): string;
  /** Tokens of upstreams. */
  tokens: UpstreamTokenSource;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** The credentials of a route. */
export interface RouteCredentials {
  /** What its backend is given; undefined where that is nothing. */
  source: PersonalCredentials | undefined;
  /** What people enter for it. */
  forms: RouteForms;
}

/** A route, as far as its credentials are concerned. */
export interface RouteWithCredentials {
  /** Its name in the settings. */
  route: string;
  /** What people call it. */
  name: string;
  credentials: CredentialSettings;
}

/**
 * Composes the credentials of a route.
 * @throws SettingsRefused naming every one that cannot be had
 */
export function composeRouteCredentials(
  { route, name: backend, credentials }: RouteWithCredentials,
  parts: RouteCredentialsParts,
): RouteCredentials {
  const { issuer, environment, entered, upstreams, labelOf, tokens, logger, now } = parts;
  const problems: string[] = [];
  const forms: RouteForms['credentials'][number][] = [];
  const pageOf = (path: string) => (accountId: string) =>
    `${issuer}/account/${path}/${accountMark(accountId)}`;

  const placed = Object.entries(credentials).flatMap(
    ([name, { as, from, label = name, help }]): PlacedValue[] => {
      const place = `routes.${route}.credentials.${name}.from`;
      if (from === 'person') {
        forms.push({ name, label, help, check: (value) => checkFits(as, value) });
        const urlFor = pageOf(`credentials/${route}`);
        return [
          {
            as,
            value: createPersonValue({ issuer, route, name, as, backend, label, urlFor, entered, logger }),
          },
        ];
      }
      if ('upstream' in from) {
        const { upstream, scopes = [] } = from;
        if (!upstreams.includes(upstream))
          problems.push(`${place}.upstream: there is no upstream ${upstream}`);
        const urlFor = pageOf(`upstreams/${upstream}/link`);
        const isKept = 'env' in as;
        const options = { issuer, backend, upstream, labelOf, scopes, tokens, urlFor, isKept, now, logger };
        return [{ as, value: createUpstreamValue(options) }];
      }
      const read = readOperatorValue(from, environment);
      if ('problem' in read) problems.push(`${place}: ${read.problem}`);
      else if (checkFits(as, read.value))
        problems.push(
          `${place}: has characters that cannot stand ${'header' in as ? 'in a header' : 'there'}`,
        );
      else return [{ as, value: read.value }];
      return [];
    },
  );
  if (problems.length > 0) throw new SettingsRefused(problems);
  return {
    source: placed.length === 0 ? undefined : createCredentials(placed),
    forms: { route, label: backend, credentials: forms },
  };
}
