import {
  type AccountOptions,
  provideBrowser,
  startWorld,
  type TestAccount,
  type World,
  type WorldOptions,
} from '@vat/testkit';
import { type Browser, type BrowserContext, chromium, type JSHandle, type Locator, type Page } from 'playwright-core';

export const WIDE = { width: 1280, height: 860 };
export const NARROW = { width: 390, height: 844 };

/** The password of all test accounts. */
export const PASSWORD = 'correct horse';

type VisitOptions = {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** The language of the browser. */
  locale?: string;
  /** URLs for which error responses are expected; browsers report them on the console. */
  refused?: RegExp;
};

/** A page in its own browser context, which records errors. */
export type Visit = {
  page: Page;
  go: (address: string) => Promise<void>;
  /** Signs in through the form and waits for the overview. */
  signIn: (email: string) => Promise<void>;
  /** Creates a session without the form, which is faster. */
  enter: (email: string) => Promise<void>;
  /** Console errors, exceptions and requests to other hosts so far. */
  complaints: () => string[];
  close: () => Promise<void>;
};

/** A test service with a browser. */
export type Dashboard = {
  world: World;
  visit: (options?: VisitOptions) => Promise<Visit>;
  account: (email: string, more?: Omit<AccountOptions, 'email'>) => Promise<TestAccount>;
  close: () => Promise<void>;
};

/**
 * Disabled Chromium features. Chromium uses only the last such list, so this one repeats the names of Playwright. The first
 * two are internal pages of the address bar, which took more CPU than the pages under test.
 */
const DISABLED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

/** Requests to `url`, with `method` those of one method, wait until the returned function is called. */
export const holdRequests = async (page: Page, url: string | RegExp, method?: string): Promise<() => void> => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(url, async (route) => {
    if (method === undefined || route.request().method() === method) await held;
    await route.continue();
  });
  return answer;
};

/** Resolves when the page has rendered what it knows by now. */
export const untilRendered = (page: Page): Promise<void> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');

/** An element of the page: the tests are compiled without the types of browsers. */
type PageElement = { isConnected: boolean; value?: string; click: () => void; requestSubmit: () => void };
type PagePort = { onmessage: () => void; postMessage: (message: null) => void };

/**
 * Between all tasks of the page, until the element is gone, calls a method of it and notes its value. Resolves to its values so
 * far, without repetitions, once it has begun.
 */
export const atEveryMoment = (
  element: Locator,
  method?: 'click' | 'requestSubmit',
): Promise<JSHandle<(string | undefined)[]>> =>
  element.evaluateHandle((node: PageElement, name) => {
    const values = [node.value];
    const { port1, port2 } = new MessageChannel() as unknown as { port1: PagePort; port2: PagePort };
    port1.onmessage = () => {
      if (!node.isConnected) return;
      if (values.at(-1) !== node.value) values.push(node.value);
      if (name !== undefined) node[name]();
      port2.postMessage(null);
    };
    port2.postMessage(null);
    return values;
  }, method);

/** Starts a browser and a real API process that serves the built pages. */
export const openDashboard = async (options: WorldOptions = {}): Promise<Dashboard> => {
  // The default rate limit, unlike in other tests: pages must not reach it in ordinary use.
  const settings = { SESSION_RATE_LIMIT: '', ...options.settings };
  const [program, world] = await Promise.all([provideBrowser(), startWorld({ ...options, settings })]);
  const browser: Browser = await chromium.launch({
    executablePath: program.file,
    env: program.env,
    args: [
      // The sandbox of Chromium does not run as root, and its background requests disturb the tests.
      '--no-sandbox',
      '--disable-background-networking',
      // The tests need neither a GPU nor software rendering.
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--in-process-gpu',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
    ],
  });
  return {
    world,
    visit: (visitOptions = {}) => openVisit(browser, world, visitOptions),
    account: (email, more = {}) => world.newAccount({ email, ...more }),
    close: async () => {
      await browser.close();
      await world.stop();
    },
  };
};

const openVisit = async (
  browser: Browser,
  world: World,
  { viewport = WIDE, colorScheme = 'light', locale = 'en-GB', refused }: VisitOptions,
): Promise<Visit> => {
  const context: BrowserContext = await browser.newContext({
    viewport,
    colorScheme,
    baseURL: world.baseUrl(),
    locale,
    timezoneId: 'Europe/Berlin',
    acceptDownloads: true,
  });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    const { url } = message.location();
    if (message.text().startsWith('Failed to load resource') && refused?.test(url)) return;
    complaints.push(`console: ${message.text()} ${url}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== world.baseUrl() && protocol !== 'blob:') complaints.push(`foreign request: ${request.url()}`);
  });
  const go = async (address: string) => void (await page.goto(`/app${address}`));
  return {
    page,
    go,
    signIn: async (email) => {
      await go('/sign-in');
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    },
    enter: async (email) => {
      const answer = await context.request.post('/app/api/session', { data: { email, password: PASSWORD } });
      if (!answer.ok()) throw new Error(`sign-in failed: ${await answer.text()}`);
    },
    complaints: () => complaints,
    close: () => context.close(),
  };
};
