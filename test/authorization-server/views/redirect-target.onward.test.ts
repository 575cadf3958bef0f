import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderOnward } from '../../../src/authorization-server/views/redirect-target.ts';

describe('renderOnward', () => {
  it('navigates without a script, and has a link for browsers that do not (FA-21)', () => {
    const html = renderOnward(en, 'https://gate.example/authorize/a?b=1&pass=c', 'app');
    const escaped = 'https://gate.example/authorize/a?b=1&amp;pass=c';
    expect(html).toContain(`<meta http-equiv="refresh" content="0; url=${escaped}">`);
    expect(html).toContain(`href="${escaped}"`);
    expect(html).not.toContain('<script');
  });

  it('keeps markup and quotes of a URL out of the page (T-059)', () => {
    const html = renderOnward(en, 'https://app.example/"><script>x</script>', 'step');
    expect(html).not.toContain('<script');
    expect(html).toContain('url=https://app.example/&quot;&gt;&lt;script&gt;');
  });
});
