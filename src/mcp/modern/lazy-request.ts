/**
 * Gives a request that is only built when something of it is looked at, which most tools never do.
 * The SDK reads `request` for every message, so the value itself must be the lazy one.
 * @param build builds the request
 */
export function lazyRequest(build: () => Request): Request {
  let built: Request | undefined;
  return new Proxy(Object.create(Request.prototype) as Request, {
    get(_target, name) {
      built ??= build();
      const value: unknown = Reflect.get(built, name, built);
      return typeof value === 'function' ? value.bind(built) : value;
    },
  });
}
