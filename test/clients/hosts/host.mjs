// What every program around a library needs: a login that is kept in a file of the home, a listener for the browser's answer, and calls
// read from standard input, a text a line. Copied beside the installed library, as an app of its user is.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

function readKept(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/**
 * Creates the login storage that an SDK asks its user for, with a listener on loopback. It prints the authorization URL.
 * @param {object} [changes] members over those of the provider
 */
export async function createLogin(changes = {}) {
  const callbacks = [];
  const waiting = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    if (url.pathname !== '/callback') return response.writeHead(404).end();
    response.end('You may close this page.');
    const next = waiting.shift();
    if (next) next(url.searchParams);
    else callbacks.push(url.searchParams);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const redirectUrl = `http://127.0.0.1:${server.address().port}/callback`;
  const file = join(process.env.HOME, 'login.json');
  const kept = readKept(file);
  const keep = (name, value) => {
    kept[name] = value;
    writeFileSync(file, JSON.stringify(kept));
  };
  const provider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'An app around a library',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state() {
      keep('state', randomUUID());
      return kept.state;
    },
    storedState: () => kept.state,
    saveState(state) {
      keep('state', state);
    },
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      keep('client', client);
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      keep('tokens', tokens);
    },
    codeVerifier: () => kept.verifier,
    saveCodeVerifier(verifier) {
      keep('verifier', verifier);
    },
    discoveryState: () => kept.discovery,
    saveDiscoveryState(discovery) {
      keep('discovery', discovery);
    },
    invalidateCredentials(what) {
      if (what === 'all' || what === 'client') keep('client', undefined);
      if (what === 'all' || what === 'tokens') keep('tokens', undefined);
    },
    redirectToAuthorization(url) {
      console.log(`Open ${url.href} in a browser.`);
    },
    ...changes,
  };
  return {
    provider,
    /** Waits for the parameters with which the browser comes back. */
    callback: () =>
      callbacks.length > 0
        ? Promise.resolve(callbacks.shift())
        : new Promise((resolve) => waiting.push(resolve)),
  };
}

/** Returns whether an error, or what caused it, says that a login is needed. */
export function needsLogin(error) {
  for (let at = error, depth = 0; at && depth < 5; at = at.cause, depth++)
    if (
      /Unauthorized/i.test(`${at.name} ${at.constructor?.name} ${at.message}`) ||
      at.code === 401 ||
      at.status === 401
    )
      return true;
  return false;
}

/** Calls the tool with each line of standard input, and prints each result. */
export function serveCalls(call) {
  const lines = createInterface({ input: process.stdin });
  let last = Promise.resolve();
  lines.on('line', (text) => {
    last = last
      .then(() => call(text))
      .then(
        (result) => console.log(`RESULT ${JSON.stringify(result)}`),
        (error) => console.log(`ERROR ${error?.stack ?? error}`.replaceAll('\n', ' ')),
      );
  });
  lines.on('close', () => process.exit(0));
  console.log('READY');
}
