import { describe, expect, it } from 'vitest';
import { accountEn } from '../../../src/authorization-server/texts/account-en.ts';
import { flattenTexts } from './flatten-texts.ts';

describe('the English texts of the account', () => {
  it('name the app, the passkey or the time they speak of', () => {
    expect(accountEn.apps.end('Notes')).toBe('End access of Notes');
    expect(accountEn.passkeys.remove('Laptop')).toBe('Remove Laptop');
    expect(accountEn.connections.lastUsed('today')).toContain('today');
  });

  it('end no sentence with the name of a service, which may end with a full stop itself', () => {
    const { onlyWay, unlinkExplanation, linkDone, linkDenied, unlinkDone, away, faulty, linkExplanation } =
      accountEn.upstreams;
    for (const say of [
      onlyWay,
      unlinkExplanation,
      linkDone,
      linkDenied,
      unlinkDone,
      away,
      faulty,
      linkExplanation,
    ])
      expect(say('Example Ltd.')).not.toContain('Ltd..');
  });

  it('say something each', () => {
    for (const [place, words] of flattenTexts(accountEn)) expect(words, place).toMatch(/[a-z]/i);
  });
});
