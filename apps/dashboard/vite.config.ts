import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The API serves the pages below /app. `npm run dev -w @vat/dashboard` serves them against a running API. */
export default defineConfig({
  base: '/app/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The dashboard, and the public page of one check, which the API serves below /verify.
    rolldownOptions: { input: ['index.html', 'verify.html'] },
    // The content security policy forbids `data:` URLs, so no asset is inlined.
    assetsInlineLimit: 0,
    target: 'es2022',
  },
  server: { proxy: { '/app/api': 'http://127.0.0.1:3000', '/docs': 'http://127.0.0.1:3000' } },
});
