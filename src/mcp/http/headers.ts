import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns a header of a request, by its name in lower case; undefined if it was not sent. All that the room reads by
 * name is read here. Each order in which clients send their headers makes an object of another shape; V8 compiles a
 * read of one fixed name for the shapes it has seen, and throws away the whole function around it when the next one
 * comes (seen: ten functions, and 100 ms for everybody). A read of many names is compiled for any shape.
 */
export function headerOf<Name extends keyof IncomingHttpHeaders>(
  headers: IncomingHttpHeaders,
  name: Name,
): IncomingHttpHeaders[Name] {
  return headers[name];
}
