import { describe, expect, it } from 'vitest';
import { createResourceRegistry } from '../../../src/authorization-server/resources.ts';
import { chooseResource } from '../../../src/authorization-server/trusted-issuers/granted-scopes.ts';

const resource = {
  resource: 'https://a.example/mcp',
  name: 'A',
  scopes: { read: 'Read' },
  baselineScopes: ['read'],
};

describe('the resource of a token that nobody is asked about', () => {
  const other = { ...resource, resource: 'https://b.example' };
  const resources = createResourceRegistry([resource, other]);
  const refused = expect.objectContaining({ error: 'invalid_target' });

  it('is what the assertion says, else what the request says, else the first', () => {
    expect(chooseResource(resources, undefined, other.resource, undefined)).toBe(other);
    expect(chooseResource(resources, other.resource, undefined, undefined)).toBe(other);
    expect(chooseResource(resources, undefined, undefined, undefined)).toBe(resource);
  });

  it('is not another than the assertion says, nor one the rule does not have, nor an unknown one (T-023)', () => {
    expect(() => chooseResource(resources, resource.resource, other.resource, undefined)).toThrow(refused);
    expect(() => chooseResource(resources, undefined, other.resource, [resource.resource])).toThrow(refused);
    expect(() => chooseResource(resources, 'https://c.example', undefined, undefined)).toThrow(refused);
    expect(chooseResource(resources, undefined, other.resource, [other.resource])).toBe(other);
  });

  it('is not the undecided one of a person who chooses (FA-20)', () => {
    const beside = { ...resource, resource: 'https://a.example/b', scopes: { write: 'Write' } };
    const two = createResourceRegistry([resource, beside]);
    expect(() => chooseResource(two, 'urn:gatehouse:undecided', undefined, undefined)).toThrow(refused);
  });
});
