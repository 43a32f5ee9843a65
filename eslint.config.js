import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['node_modules', '.tap', 'dist', 'coverage'] },
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Use named exports.' },
        { selector: 'TSEnumDeclaration', message: 'Use a union.' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/only-throw-error': 'error',
    },
  },
  {
    files: ['functions/**/*.ts', 'webhook/**/*.ts', 'cli/**/*.ts'],
    ignores: ['functions/domain/deadline.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'AbortSignal', property: 'any', message: 'Use anySignal of functions/domain/deadline.ts.' },
      ],
    },
  },
  {
    // The way into a host's folder exports it as default: the table of functions/pull-request/provider-apis.ts loads all of them alike.
    files: ['functions/providers/*/index.ts'],
    rules: { 'no-restricted-syntax': ['error', { selector: 'TSEnumDeclaration', message: 'Use a union.' }] },
  },
  {
    // What VitePress reads.
    files: ['site/.vitepress/**/*.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['test/**/*.ts', 'demo/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
)
