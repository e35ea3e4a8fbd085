import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { Loading, Refusal } from './parts/states.js';
import { Page } from './parts/text.js';
import { MissingPage, SignedIn } from './shell/gate.js';

/** Keeps the texts of an address's query that a page knows; whatever else stands there is dropped. */
const texts =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [K in Name]?: string } =>
    Object.fromEntries(names.flatMap((name) => (search[name] ? [[name, String(search[name])]] : []))) as {
      [K in Name]?: string;
    };

const root = createRootRoute({ component: Outlet, notFoundComponent: MissingPage });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: texts('next'),
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
  validateSearch: texts('vat_number', 'valid', 'from', 'to', 'reference'),
  component: lazyRouteComponent(() => import('./pages/checks/checks-page.js'), 'ChecksPage'),
});
const newCheck = createRoute({
  getParentRoute: () => signedIn,
  path: '/checks/new',
  validateSearch: texts('request', 'vat_number'),
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
  validateSearch: texts('status'),
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

/** Every address of the dashboard. Each page is loaded when it is first gone to, or pointed at. */
export const createAppRouter = () =>
  createRouter({
    routeTree: tree,
    basepath: '/app',
    // Plain texts, as the API's own addresses have them; the router would read numbers and booleans into them.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
      return text && `?${text}`;
    },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error, reset }) => (
      <Page title="This page has failed">
        <Refusal error={error} onRetry={reset} />
      </Page>
    ),
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
