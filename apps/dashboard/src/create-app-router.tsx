import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { loadPage, PageError } from './parts/page-error.js';
import { Loading } from './parts/states.js';
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

/** The component `name` of a module that is loaded when its page is first shown, see {@link loadPage}. */
const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(loadPage(load), name);

/** A page that needs a session. `name`: its component in the module. */
const page = <const Path extends string, Module, Name extends keyof Module & string>(
  path: Path,
  load: () => Promise<Module & Record<Name, () => ReactNode>>,
  name: Name,
) => createRoute({ getParentRoute: () => signedIn, path, component: lazyPage(load, name) });

const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: stringParams('next'),
    component: lazyPage(() => import('./pages/sign-in/sign-in-page.js'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-up',
    component: lazyPage(() => import('./pages/sign-up/sign-up-page.js'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/invitation',
    component: lazyPage(() => import('./pages/invitation/invitation-page.js'), 'InvitationPage'),
  }),
  signedIn.addChildren([
    page('/', () => import('./pages/overview/overview-page.js'), 'OverviewPage'),
    page('/welcome', () => import('./pages/welcome/welcome-page.js'), 'WelcomePage'),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/checks',
      validateSearch: stringParams('vat_number', 'valid', 'from', 'to', 'reference'),
      component: lazyPage(() => import('./pages/checks/checks-page.js'), 'ChecksPage'),
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/checks/new',
      validateSearch: stringParams('request', 'vat_number'),
      component: lazyPage(() => import('./pages/new-check/new-check-page.js'), 'NewCheckPage'),
    }),
    page('/checks/$id', () => import('./pages/check/check-page.js'), 'CheckPage'),
    page('/batches', () => import('./pages/batches/batches-page.js'), 'BatchesPage'),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/batches/$id',
      validateSearch: stringParams('status', 'valid'),
      component: lazyPage(() => import('./pages/batch/batch-page.js'), 'BatchPage'),
    }),
    page('/coverage', () => import('./pages/coverage/coverages-page.js'), 'CoveragesPage'),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/coverage/$id',
      validateSearch: stringParams('status'),
      component: lazyPage(() => import('./pages/coverage/coverage-page.js'), 'CoveragePage'),
    }),
    page('/watches', () => import('./pages/watches/watches-page.js'), 'WatchesPage'),
    page('/watches/$id', () => import('./pages/watch/watch-page.js'), 'WatchPage'),
    page('/evidence', () => import('./pages/evidence/evidence-page.js'), 'EvidencePage'),
    createRoute({
      getParentRoute: () => signedIn,
      path: '/deliveries',
      validateSearch: stringParams('status', 'event', 'from', 'to'),
      component: lazyPage(() => import('./pages/deliveries/deliveries-page.js'), 'DeliveriesPage'),
    }),
    page('/deliveries/$id', () => import('./pages/delivery/delivery-page.js'), 'DeliveryPage'),
    page('/settings', () => import('./pages/settings/settings-page.js'), 'SettingsPage'),
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
    // The page of another object is another page, without the results and errors of the first.
    defaultRemountDeps: ({ params }) => params,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageError,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
