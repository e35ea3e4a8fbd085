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

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: stringParams('next'),
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.js'), 'SignInPage'),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/sign-up/sign-up-page.js'), 'SignUpPage'),
});

const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });

const welcome = createRoute({
  getParentRoute: () => signedIn,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./pages/welcome/welcome-page.js'), 'WelcomePage'),
});
const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.js'), 'OverviewPage'),
});
const checks = createRoute({
  getParentRoute: () => signedIn,
  path: '/checks',
  validateSearch: stringParams('vat_number', 'valid', 'from', 'to', 'reference'),
  component: lazyRouteComponent(() => import('./pages/checks/checks-page.js'), 'ChecksPage'),
});
const newCheck = createRoute({
  getParentRoute: () => signedIn,
  path: '/checks/new',
  validateSearch: stringParams('request', 'vat_number'),
  component: lazyRouteComponent(() => import('./pages/new-check/new-check-page.js'), 'NewCheckPage'),
});
const check = createRoute({
  getParentRoute: () => signedIn,
  path: '/checks/$id',
  component: lazyRouteComponent(() => import('./pages/check/check-page.js'), 'CheckPage'),
});
const deliveries = createRoute({
  getParentRoute: () => signedIn,
  path: '/deliveries',
  component: lazyRouteComponent(() => import('./pages/deliveries/deliveries-page.js'), 'DeliveriesPage'),
});
const delivery = createRoute({
  getParentRoute: () => signedIn,
  path: '/deliveries/$id',
  component: lazyRouteComponent(() => import('./pages/delivery/delivery-page.js'), 'DeliveryPage'),
});
const batches = createRoute({
  getParentRoute: () => signedIn,
  path: '/batches',
  component: lazyRouteComponent(() => import('./pages/batches/batches-page.js'), 'BatchesPage'),
});
const batch = createRoute({
  getParentRoute: () => signedIn,
  path: '/batches/$id',
  validateSearch: stringParams('status'),
  component: lazyRouteComponent(() => import('./pages/batch/batch-page.js'), 'BatchPage'),
});
const watches = createRoute({
  getParentRoute: () => signedIn,
  path: '/watches',
  component: lazyRouteComponent(() => import('./pages/watches/watches-page.js'), 'WatchesPage'),
});
const watch = createRoute({
  getParentRoute: () => signedIn,
  path: '/watches/$id',
  component: lazyRouteComponent(() => import('./pages/watch/watch-page.js'), 'WatchPage'),
});
const evidence = createRoute({
  getParentRoute: () => signedIn,
  path: '/evidence',
  component: lazyRouteComponent(() => import('./pages/evidence/evidence-page.js'), 'EvidencePage'),
});
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.js'), 'SettingsPage'),
});

const tree = root.addChildren([
  signIn,
  signUp,
  signedIn.addChildren([
    overview,
    welcome,
    checks,
    newCheck,
    check,
    batches,
    batch,
    watches,
    watch,
    evidence,
    deliveries,
    delivery,
    settings,
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
