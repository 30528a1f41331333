import js from '@eslint/js'
import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'
import parser from 'vue-eslint-parser'

const type_aware = { projectService: true, tsconfigRootDir: import.meta.dirname, extraFileExtensions: ['.vue'] }

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema.d.ts', 'test-results', 'artifacts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...vue.configs['flat/recommended'],
  {
    files: ['**/*.ts', '**/*.vue'],
    languageOptions: { parserOptions: type_aware },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      'no-undef': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['**/*.vue'], languageOptions: { parser, parserOptions: { parser: ts.parser, ...type_aware } } },
  {
    files: ['**/*.vue'],
    rules: {
      // Layout of templates is a matter of taste, and of width.
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': 'off',
      'vue/html-indent': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/first-attribute-linebreak': 'off',
      'vue/multi-word-component-names': 'off',
      'vue/no-v-html': 'error',
      'vue/require-default-prop': 'off',
    },
  },
  { files: ['scripts/*.mjs'], languageOptions: { globals: { console: false, process: false, fetch: false, URL: false } }, rules: { 'no-console': 'off' } },
)
