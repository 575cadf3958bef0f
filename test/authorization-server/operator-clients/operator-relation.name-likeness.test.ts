import { describe, expect, it } from 'vitest';
import { glancedName } from '../../../src/authorization-server/operator-clients/operator-relation.ts';

describe('a name at a glance', () => {
  it.each([
    'claude code',
    'CLAUDE  CODE',
    'Claude-Code!'.replace('!', ''),
    'С1аudе Соdе',
    'Cl\u0430ude\u200B Code',
    'Ｃｌａｕｄｅ Ｃｏｄｅ',
    'Clàudé Cödè',
    'C|aude C0de',
    '\u202EClaude Code',
  ])('of %j is that of Claude Code (T-060)', (name) => {
    expect(glancedName(name)).toBe(glancedName('Claude Code'));
  });

  it.each(['Claude', 'Claude Code 2', 'Cursor', '克劳德'])('of %j is another one', (name) => {
    expect(glancedName(name)).not.toBe(glancedName('Claude Code'));
  });

  it('keeps names in other scripts apart, and gives nothing for signs alone', () => {
    expect(glancedName('编辑器')).not.toBe(glancedName('浏览器'));
    expect(glancedName('***')).toBe('');
  });
});
