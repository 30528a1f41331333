//! A plot of ratios: a bar for each question, whiskers for the spread, a line at one.
//!
//! Written by hand, because it is a few rectangles: no fonts to load, no scripts, and the colours follow the
//! reader's light or dark theme.

mod lines;
mod verdict;

pub(crate) use lines::{Frame, Growth, LinePlot};
pub(crate) use verdict::Sense;

use crate::spread::Range;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt::Write;
use verdict::Verdict;

/// One or more panels of bars under one title.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Where something holds if it holds for the whole whisker: "in every run".
    pub(crate) spread: Cow<'static, str>,
    pub(crate) panels: Vec<Panel>,
}

/// Bars that share a scale.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Panel {
    /// Who is at one.
    pub(crate) one: String,
    /// What the bars are ratios of.
    pub(crate) axis: String,
    pub(crate) sense: Sense,
    pub(crate) bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) ratio: Range,
    /// Where it should end at least, or at most.
    pub(crate) goal: Option<f64>,
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 104.0;
const ROW: f64 = 30.0;
const THICK: f64 = 14.0;
const LEFT: f64 = 290.0;
const RIGHT: f64 = 64.0;
const BOTTOM: f64 = 78.0;
/// From the last bar of a panel to the first of the next.
const BETWEEN: f64 = 84.0;

const STYLE: &str = "
    svg { color-scheme: light dark; font-family: system-ui, sans-serif; font-size: 13px }
    .paper { fill: #ffffff }
    text { fill: #1f2933 }
    .title { font-size: 17px; font-weight: 600 }
    .quiet { fill: #5b6770; font-size: 12px }
    .value { font-weight: 600; font-variant-numeric: tabular-nums }
    .grid { stroke: #e3e7eb; stroke-width: 1 }
    .one { stroke: #1f2933; stroke-width: 1.5; stroke-dasharray: 4 3 }
    .whisker { stroke: #1f2933; stroke-width: 1.5 }
    .goal { stroke: #c22f5d; stroke-width: 2.5 }
    .faster { fill: #2f9e8f }
    .even { fill: #94a3b0 }
    .slower { fill: #d9822b }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #12171c }
      text { fill: #e6ebef }
      .quiet { fill: #9aa7b1 }
      .grid { stroke: #2a323a }
      .one, .whisker { stroke: #e6ebef }
      .faster { fill: #35a897 }
      .even { fill: #6d7c89 }
      .slower { fill: #e0913f }
    }
";

/// From ratios to pixels.
#[derive(Clone, Copy, Debug)]
struct Scale {
    longest: f64,
    step: f64,
}

impl Scale {
    /// Wide enough for every whisker, and always for the line at one with room beside it.
    fn of(bars: &[Bar]) -> Self {
        let furthest =
            bars.iter().map(|bar| bar.ratio.max).filter(|ratio| ratio.is_finite()).fold(1.0, f64::max);
        let step = [0.25, 0.5, 1.0, 2.0, 5.0].into_iter().find(|step| furthest / step <= 8.0).unwrap_or(10.0);
        Self { longest: ((furthest * 1.04) / step).ceil() * step, step }
    }

    fn x(self, ratio: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (ratio / self.longest).clamp(0.0, 1.0)
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        (0..=40u32).map(move |tick| f64::from(tick) * self.step).take_while(move |tick| *tick <= self.longest)
    }
}

impl Plot {
    /// The plot as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut panels = String::new();
        let mut foot = TOP - BETWEEN;
        for panel in &self.panels {
            foot = panel.draw(&mut panels, foot + BETWEEN);
        }
        let height = foot + BOTTOM;
        draw_legend(&mut panels, height - 20.0, &self.spread, self.has_goals());
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
  <title>{title}</title>
  <style>{STYLE}  </style>
  <rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>
  <text class="title" x="24" y="36">{title}</text>
  <text class="quiet" x="24" y="58">{subtitle}</text>
{panels}</svg>
"#,
            title = escape(&self.title),
            subtitle = escape(&self.subtitle),
        )
    }

    fn has_goals(&self) -> bool {
        self.panels.iter().flat_map(|panel| &panel.bars).any(|bar| bar.goal.is_some())
    }
}

impl Panel {
    /// Draws the panel from `top` on, and says where its last bar ends.
    fn draw(&self, svg: &mut String, top: f64) -> f64 {
        let scale = Scale::of(&self.bars);
        let foot = self.bars.iter().fold(top, |y, _| y + ROW);
        self.draw_axis(svg, scale, top, foot);
        let mut y = top + ROW / 2.0;
        for bar in &self.bars {
            bar.draw(svg, scale, y, Verdict::on(bar.ratio, self.sense));
            y += ROW;
        }
        foot
    }

    fn draw_axis(&self, svg: &mut String, scale: Scale, top: f64, foot: f64) {
        for tick in scale.ticks() {
            let x = scale.x(tick);
            let _ = writeln!(svg, r#"  <line class="grid" x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{foot}"/>"#);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet" x="{x:.1}" y="{:.1}" text-anchor="middle">{tick}</text>"#,
                foot + 18.0
            );
        }
        let _ = writeln!(
            svg,
            r#"  <line class="one" x1="{one:.1}" y1="{:.1}" x2="{one:.1}" y2="{foot}"/>
  <text class="quiet" x="{one:.1}" y="{:.1}" text-anchor="middle">{peer} = 1</text>
  <text class="quiet" x="{LEFT}" y="{:.1}">{axis}; {sense}</text>"#,
            top - 4.0,
            top - 10.0,
            foot + 38.0,
            one = scale.x(1.0),
            peer = escape(&self.one),
            axis = escape(&self.axis),
            sense = self.sense.words(),
        );
    }
}

impl Bar {
    fn draw(&self, svg: &mut String, scale: Scale, y: f64, verdict: Verdict) {
        let Range { min, median, max } = self.ratio;
        let (end, low, high) = (scale.x(median), scale.x(min), scale.x(max));
        let (class, top, text) = (verdict.class(), y - THICK / 2.0, y + 4.5);
        let _ = writeln!(
            svg,
            r#"  <text x="{:.1}" y="{text:.1}" text-anchor="end">{}</text>
  <rect class="bar {class}" x="{LEFT}" y="{top:.1}" width="{:.1}" height="{THICK}" rx="2"/>
  <path class="whisker" fill="none" d="M{low:.1} {y:.1}H{high:.1}M{low:.1} {up:.1}v8M{high:.1} {up:.1}v8"/>
  <text class="value" x="{:.1}" y="{text:.1}" text-anchor="end">{median:.2}</text>"#,
            LEFT - 12.0,
            escape(&self.name),
            end - LEFT,
            WIDTH - 20.0,
            up = y - 4.0,
        );
        if let Some(goal) = self.goal {
            let (x, top) = (scale.x(goal), y - ROW / 2.0 + 3.0);
            let _ = writeln!(svg, r#"  <path class="goal" d="M{x:.1} {top:.1}v{:.1}"/>"#, ROW - 6.0);
        }
    }
}

fn draw_legend(svg: &mut String, y: f64, spread: &str, has_goals: bool) {
    let mut x = LEFT;
    for verdict in Verdict::ALL {
        let (class, meaning) = (verdict.class(), verdict.meaning(spread));
        let _ = writeln!(
            svg,
            r#"  <rect class="{class}" x="{x}" y="{}" width="12" height="12" rx="2"/>"#,
            y - 10.5
        );
        let _ = writeln!(svg, r#"  <text class="quiet" x="{}" y="{y}">{meaning}</text>"#, x + 18.0);
        x += 166.0;
    }
    if has_goals {
        let _ = writeln!(svg, r#"  <path class="goal" d="M{x} {}v12"/>"#, y - 10.5);
        let _ = writeln!(svg, r#"  <text class="quiet" x="{}" y="{y}">goal</text>"#, x + 8.0);
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(bars: Vec<Bar>) -> Plot {
        let one = Panel { one: "peer".into(), axis: "a < b".into(), sense: Sense::ShorterIsFaster, bars };
        Plot {
            title: "ours & \"theirs\"".into(),
            subtitle: "a < b".into(),
            spread: "in every run".into(),
            panels: vec![one],
        }
    }

    fn bar(name: &str, median: f64) -> Bar {
        Bar { name: name.into(), ratio: Range { min: median * 0.9, median, max: median * 1.1 }, goal: None }
    }

    fn count(svg: &str, class: &str) -> usize {
        let document = roxmltree::Document::parse(svg).expect("well-formed");
        let is = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|classes| classes.split(' ').any(|each| each == class))
        };
        document.descendants().filter(is).count()
    }

    #[test]
    fn there_is_a_bar_a_whisker_and_a_value_for_each_question() {
        let svg = plot(vec![bar("a", 0.5), bar("b <&> \"c\"", 1.4), bar("d", 0.95)]).svg();
        assert_eq!(["bar", "whisker", "value"].map(|class| count(&svg, class)), [3, 3, 3]);
        assert_eq!(count(&svg, "one"), 1);
    }

    #[test]
    fn panels_stand_under_each_other_and_goals_are_marked() {
        let mut plot = plot(vec![bar("a", 0.5), Bar { goal: Some(0.3), ..bar("b", 0.4) }]);
        let height =
            |svg: &str| svg.split("viewBox=\"0 0 860 ").nth(1).unwrap().split('"').next().unwrap().parse();
        let one: f64 = height(&plot.svg()).unwrap();
        plot.panels.push(plot.panels[0].clone());
        let svg = plot.svg();
        assert_eq!(height(&svg), Ok(one + BETWEEN + 2.0 * ROW));
        // One for each panel, and one in the legend.
        assert_eq!((count(&svg, "one"), count(&svg, "goal")), (2, 3));
    }

    #[test]
    fn no_questions_make_an_empty_plot() {
        let svg = plot(vec![]).svg();
        assert_eq!((count(&svg, "bar"), count(&svg, "one")), (0, 1));
    }

    #[test]
    fn everything_lies_within_the_picture() {
        for furthest in [0.1, 1.0, 1.9, 7.0, 300.0] {
            let scale = Scale::of(&[bar("a", furthest)]);
            assert!(scale.longest >= furthest * 1.1 || furthest > 100.0);
            assert!(scale.x(furthest) <= WIDTH - RIGHT && scale.x(1.0) < WIDTH - RIGHT);
            assert!(scale.ticks().count() <= 41);
        }
    }
}
