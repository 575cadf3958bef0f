import { describe, expect, it } from 'vitest';
import { demandedProxy } from '../../src/net/proxy-environment.ts';

const HTTPS_PROXY = 'http://proxy.example:3128';

describe('a process', () => {
  it.each([
    [{ HTTPS_PROXY, NODE_USE_ENV_PROXY: '1' }, [], 'HTTPS_PROXY'],
    [{ https_proxy: HTTPS_PROXY, NODE_USE_ENV_PROXY: 'true' }, [], 'https_proxy'],
    [{ HTTP_PROXY: HTTPS_PROXY }, ['--use-env-proxy'], 'HTTP_PROXY'],
    [{ HTTPS_PROXY, NODE_OPTIONS: '--enable-source-maps --use-env-proxy' }, [], 'HTTPS_PROXY'],
  ])('with %j and %j was told to use a proxy (T-069)', (env, execArgv, name) => {
    expect(demandedProxy({ env, execArgv })).toBe(name);
  });

  it.each([
    [{}, []],
    [{ HTTPS_PROXY }, []],
    [{ HTTPS_PROXY, NODE_USE_ENV_PROXY: '0' }, []],
    [{ NODE_USE_ENV_PROXY: '1' }, ['--use-env-proxy']],
  ])('with %j and %j was not: Node.js itself would use none (T-069)', (env, execArgv) => {
    expect(demandedProxy({ env, execArgv })).toBeUndefined();
  });
});
