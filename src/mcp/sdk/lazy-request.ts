/** Something that builds an HTTP request. */
export interface RequestBuilder {
  request(): Request;
}

class RequestSource {
  readonly #builder: RequestBuilder;
  #built: Request | undefined;

  constructor(builder: RequestBuilder) {
    this.#builder = builder;
  }

  static requestOf(source: RequestSource): Request {
    source.#built ??= source.#builder.request();
    return source.#built;
  }
}

const handler: ProxyHandler<RequestSource> = {
  get(source, name) {
    const request = RequestSource.requestOf(source);
    const value: unknown = Reflect.get(request, name, request);
    return typeof value === 'function' ? value.bind(request) : value;
  },
  has: (_source, name) => name in Request.prototype,
  getPrototypeOf: () => Request.prototype,
};

/**
 * Returns a stand-in for an HTTP request that is built when a tool first looks at it. The SDK reads the request of
 * every message although most tools never do, and to build one costs more than all the rest of a call. The stand-in
 * answers as the request does; only `fetch` and `new Request` want `clone()` of it.
 * @param builder asked once at most
 */
export function lazyRequest(builder: RequestBuilder): Request {
  return new Proxy(new RequestSource(builder), handler) as unknown as Request;
}
