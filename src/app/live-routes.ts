/** Routes, which may change while the server runs. */
export interface LiveRoutes<Route> {
  /** Those of now: another list after each change. */
  readonly all: readonly Route[];
}

/**
 * Makes something out of the routes, and again only where they have changed.
 * @returns gives it as it is now
 */
export function ofRoutes<Route, Made>(
  routes: LiveRoutes<Route>,
  make: (all: readonly Route[]) => Made,
): () => Made {
  let { all } = routes;
  let made = make(all);
  return () => {
    if (routes.all !== all) {
      all = routes.all;
      made = make(all);
    }
    return made;
  };
}
