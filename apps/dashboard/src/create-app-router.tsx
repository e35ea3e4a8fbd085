import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { ErrorAlert, Loading } from './parts/states.js';
import { Page } from './parts/text.js';
import { NotFoundPage, SignedIn } from './shell/gate.js';

/** Validates the search parameters of a route: known names are read as strings, others are dropped. */
const stringParams =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [K in Name]?: string } =>
    Object.fromEntries(names.flatMap((name) => (search[name] ? [[name, String(search[name])]] : []))) as {
      [K in Name]?: string;
    };

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });

const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: stringParams('next'),
    component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.js'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-up',
    component: lazyRouteComponent(() => import('./pages/sign-up/sign-up-page.js'), 'SignUpPage'),
  }),
  signedIn.addChildren([
    createRoute({
      getParentRoute: () => signedIn,
      path: '/',
      component: lazyRouteComponent(() => import('./pages/overview/overview-page.js'), 'OverviewPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/welcome',
      component: lazyRouteComponent(() => import('./pages/welcome/welcome-page.js'), 'WelcomePage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/checks',
      validateSearch: stringParams('vat_number', 'valid', 'from', 'to', 'reference'),
      component: lazyRouteComponent(() => import('./pages/checks/checks-page.js'), 'ChecksPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/checks/new',
      validateSearch: stringParams('request', 'vat_number'),
      component: lazyRouteComponent(() => import('./pages/new-check/new-check-page.js'), 'NewCheckPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/checks/$id',
      component: lazyRouteComponent(() => import('./pages/check/check-page.js'), 'CheckPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/batches',
      component: lazyRouteComponent(() => import('./pages/batches/batches-page.js'), 'BatchesPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/batches/$id',
      validateSearch: stringParams('status', 'valid'),
      component: lazyRouteComponent(() => import('./pages/batch/batch-page.js'), 'BatchPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/coverage',
      component: lazyRouteComponent(() => import('./pages/coverage/coverages-page.js'), 'CoveragesPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/coverage/$id',
      validateSearch: stringParams('status'),
      component: lazyRouteComponent(() => import('./pages/coverage/coverage-page.js'), 'CoveragePage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/watches',
      component: lazyRouteComponent(() => import('./pages/watches/watches-page.js'), 'WatchesPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/watches/$id',
      component: lazyRouteComponent(() => import('./pages/watch/watch-page.js'), 'WatchPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/evidence',
      component: lazyRouteComponent(() => import('./pages/evidence/evidence-page.js'), 'EvidencePage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/deliveries',
      component: lazyRouteComponent(() => import('./pages/deliveries/deliveries-page.js'), 'DeliveriesPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/deliveries/$id',
      component: lazyRouteComponent(() => import('./pages/delivery/delivery-page.js'), 'DeliveryPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/settings',
      component: lazyRouteComponent(() => import('./pages/settings/settings-page.js'), 'SettingsPage'),
    }),
  ]),
]);

/** The routes of the dashboard. Each page is loaded on first navigation or hover. */
export const createAppRouter = () =>
  createRouter({
    routeTree: tree,
    basepath: '/app',
    // Plain strings, as in API URLs. By default the router parses numbers and booleans.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const parameters = Object.entries(search).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
      return text && `?${text}`;
    },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error, reset }) => (
      <Page title="Something went wrong">
        <ErrorAlert error={error} onRetry={reset} />
      </Page>
    ),
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
