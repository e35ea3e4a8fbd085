import {
  type AccountOptions,
  provideBrowser,
  startWorld,
  type TestAccount,
  type World,
  type WorldOptions,
} from '@vat/testkit';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export const WIDE = { width: 1280, height: 860 };
export const NARROW = { width: 390, height: 844 };

/** The password of accounts that a test's world makes. */
export const PASSWORD = 'correct horse';

type VisitOptions = {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** What the service is expected to refuse, by the end of its address: browsers report that as an error. */
  refused?: RegExp;
};

/** A page of a visitor of its own, which keeps count of what must not happen on it. */
export type Visit = {
  page: Page;
  go: (address: string) => Promise<void>;
  /** Signs in by the form, as somebody would, up to the overview. */
  signIn: (email: string) => Promise<void>;
  /** Has the browser hold a session, without a page: for tests of something else, which the form would double in length. */
  enter: (email: string) => Promise<void>;
  /** Errors on the console, exceptions, and requests to other hosts so far. */
  complaints: () => string[];
  close: () => Promise<void>;
};

/** A world with a browser in it. */
export type Dashboard = {
  world: World;
  visit: (options?: VisitOptions) => Promise<Visit>;
  account: (email: string, more?: Omit<AccountOptions, 'email'>) => Promise<TestAccount>;
  close: () => Promise<void>;
};

/**
 * What Chromium need not do: it takes the last such list, so the names that Playwright gives are here again. The first two
 * are pages of its own behind the address bar, two for each visit, which took more of the machine than the visit.
 */
const NOT_NEEDED = [
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

/** The pages as `npm test` has built them, served by a real API process. */
export const openDashboard = async (options: WorldOptions = {}): Promise<Dashboard> => {
  // Left to its default, unlike in other tests: pages must not reach the limit in ordinary use.
  const settings = { SESSION_RATE_LIMIT: '', ...options.settings };
  const [program, world] = await Promise.all([provideBrowser(), startWorld({ ...options, settings })]);
  const browser: Browser = await chromium.launch({
    executablePath: program.file,
    env: program.env,
    args: [
      // Chromium's own sandbox does not run as root, and its own calls home are no business of these pages.
      '--no-sandbox',
      '--disable-background-networking',
      // Nothing here needs a graphics card, real or computed, nor a process of its own for one.
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--in-process-gpu',
      `--disable-features=${NOT_NEEDED.join(',')}`,
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
  { viewport = WIDE, colorScheme = 'light', refused }: VisitOptions,
): Promise<Visit> => {
  const context: BrowserContext = await browser.newContext({
    viewport,
    colorScheme,
    baseURL: world.baseUrl(),
    locale: 'en-GB',
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
      if (!answer.ok()) throw new Error(`signing in was refused: ${await answer.text()}`);
    },
    complaints: () => complaints,
    close: () => context.close(),
  };
};
