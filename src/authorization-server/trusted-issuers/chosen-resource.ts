import { errors } from 'oidc-provider';
import type { ProtectedResource, ResourceRegistry } from '../resources.ts';

/**
 * Gives the resource of a token that nobody is asked about (RFC 8707 section 2.2).
 * @param asked the `resource` of the request, if any
 * @param asserted what the assertion is for, where its kind says so; the request may not ask for another
 * @param allowed those it may be; all there are where undefined
 * @throws errors.InvalidTarget
 */
export function chooseResource(
  resources: ResourceRegistry,
  asked: string | undefined,
  asserted: string | undefined,
  allowed: readonly string[] | undefined,
): ProtectedResource {
  const named = asserted ?? asked;
  const found = named === undefined ? resources.default : resources.find(named);
  if (!found) throw new errors.InvalidTarget('the resource is not served here');
  if (asked !== undefined && resources.find(asked) !== found)
    throw new errors.InvalidTarget('the assertion is for another resource');
  if (allowed !== undefined && !allowed.includes(found.resource))
    throw new errors.InvalidTarget('this issuer does not open this resource');
  return found;
}
