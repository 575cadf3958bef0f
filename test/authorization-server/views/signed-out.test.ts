import { describe, expect, it } from 'vitest';
import { renderSignedOut } from '../../../src/authorization-server/views/signed-out.ts';
import { hostile, pageStructure } from './page-structure.ts';

describe('renderSignedOut', () => {
  it('says what the browser was signed out of, under one heading', () => {
    const html = renderSignedOut({ resourceName: 'Team notes' });
    expect(html).toContain('no longer signed in to <bdi class="name">Team notes</bdi>');
    expect(html.match(/<h1/g)).toHaveLength(1);
  });

  it('keeps the same tags and attributes whatever the name holds (T-059)', () => {
    expect(pageStructure(renderSignedOut({ resourceName: hostile }))).toEqual(
      pageStructure(renderSignedOut({ resourceName: 'Team notes' })),
    );
  });
});
