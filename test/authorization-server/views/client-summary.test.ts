import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import {
  type ClientSummary,
  clientName,
  httpsHost,
  quotedClientName,
} from '../../../src/authorization-server/views/client-summary.ts';

const client: ClientSummary = { name: 'Claude Code', clientId: 'c1' };

describe('client summary', () => {
  it('makes the name inert (T-060)', () => {
    expect(clientName(en, { ...client, name: 'Cl\u202Eaude\n\u200BCode' })).toBe('Claude Code');
  });

  it('says so when nothing of the name can be seen', () => {
    expect(clientName(en, { ...client, name: '\u200B\u202E' })).toBe('An app without a name');
  });

  it('isolates the quoted name, so that a right-to-left name moves no other words (T-060)', () => {
    expect(quotedClientName(en, { ...client, name: '<b>שלום</b>' }).toString()).toBe(
      '<bdi class="name">“&lt;b&gt;שלום&lt;/b&gt;”</bdi>',
    );
  });

  it('names the host of an https identifier as punycode and of nothing else (T-077)', () => {
    expect(httpsHost('https://claude.ai/oauth/client.json')).toBe('claude.ai');
    expect(httpsHost('https://clаude.ai/')).toBe('xn--clude-5ve.ai');
    for (const other of [undefined, 'dyn_1', 'http://claude.ai/', 'javascript:alert(1)', 'https://']) {
      expect(httpsHost(other)).toBeUndefined();
    }
  });
});
