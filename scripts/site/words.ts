// The few texts of the frame around a page, in both languages.
import type { Language } from './sources.ts';

interface Words {
  readonly name: string;
  readonly search: string;
  readonly searchHint: string;
  readonly noResult: string;
  readonly results: string;
  readonly menu: string;
  readonly contents: string;
  readonly onThisPage: string;
  readonly theme: string;
  readonly skip: string;
  readonly previous: string;
  readonly next: string;
  readonly other: string;
  readonly otherLanguage: string;
  readonly copy: string;
  readonly copied: string;
  readonly onlyEnglish: string;
}

export const words: Readonly<Record<Language, Words>> = {
  en: {
    name: 'Halite',
    search: 'Search',
    searchHint: 'Search the documentation',
    noResult: 'Nothing was found.',
    results: 'results',
    menu: 'Menu',
    contents: 'All pages',
    onThisPage: 'On this page',
    theme: 'Light or dark',
    skip: 'Skip to the text',
    previous: 'Previous',
    next: 'Next',
    other: '中文',
    otherLanguage: '这一页的中文版',
    copy: 'Copy',
    copied: 'Copied',
    onlyEnglish: '',
  },
  zh: {
    name: 'Halite',
    search: '搜索',
    searchHint: '搜索文档',
    noResult: '没有找到。',
    results: '条结果',
    menu: '目录',
    contents: '所有页面',
    onThisPage: '本页内容',
    theme: '浅色或深色',
    skip: '跳到正文',
    previous: '上一页',
    next: '下一页',
    other: 'English',
    otherLanguage: 'This page in English',
    copy: '复制',
    copied: '已复制',
    onlyEnglish: '英文',
  },
};
