//! One frame and the lines in it.

use super::super::escape;
use super::CLASSES;
use super::axis::Axis;
use std::fmt::Write;

/// Lines that share their axes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) growth: Growth,
    /// A level that should not be exceeded for long.
    pub(crate) promise: Option<f64>,
    /// What is across, and what it comes to.
    pub(crate) lines: Vec<Vec<(f64, f64)>>,
    /// When something was done, and what, if it is to be told.
    pub(crate) marks: Vec<(f64, String)>,
}

/// What grows from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Time.
    Seconds,
    /// Something of that name, and what comes of it grows as it does: both by powers of ten.
    Tenfold(&'static str),
}

/// Where a frame lies.
#[derive(Clone, Debug)]
struct Window {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    across: Axis,
    up: Axis,
}

impl Window {
    fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.across.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.up.share(value))
    }
}

impl Frame {
    pub(super) fn draw(&self, svg: &mut String, left: f64, top: f64, width: f64, height: f64) {
        let (across, up) = self.axes();
        let window = Window { left, top, width, height, across, up };
        let name = escape(&self.name);
        let _ = writeln!(svg, r#"  <text class="small" x="{left:.1}" y="{:.1}">{name}</text>"#, top - 7.0);
        self.draw_ticks(svg, &window);
        for (at, what) in &self.marks {
            let (x, what) = (window.x(*at), escape(what));
            let _ = writeln!(svg, r#"  <path class="mark" d="M{x:.1} {top:.1}v{height:.1}"/>"#);
            let (x, y) = (x + 4.0, top + 12.0);
            let _ = writeln!(svg, r#"  <text class="quiet small" x="{x:.1}" y="{y:.1}">{what}</text>"#);
        }
        if let Some(promise) = self.promise {
            let y = window.y(promise);
            let _ = writeln!(svg, r#"  <path class="promise" d="M{left:.1} {y:.1}h{width:.1}"/>"#);
        }
        for (points, class) in self.lines.iter().zip(CLASSES) {
            let path = points.iter().fold(String::new(), |mut path, (at, value)| {
                let pen = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{pen}{:.1} {:.1}", window.x(*at), window.y(*value));
                path
            });
            let _ = writeln!(svg, r#"  <path class="curve {class}" d="{path}"/>"#);
        }
    }

    fn axes(&self) -> (Axis, Axis) {
        let points = || self.lines.iter().flatten();
        let values = || points().map(|point| point.1).chain(self.promise);
        match self.growth {
            Growth::Seconds => {
                let highest = values().fold(1.0, f64::max);
                let all = points().map(|point| point.0).fold(1.0, f64::max);
                (Axis::seconds(all), Axis::amounts(highest, self.promise.unwrap_or(highest)))
            }
            Growth::Tenfold(_) => (Axis::decades(points().map(|point| point.0)), Axis::decades(values())),
        }
    }

    fn draw_ticks(&self, svg: &mut String, window: &Window) {
        let Window { left, top, width, height, .. } = window;
        let foot = top + height;
        for tick in window.up.ticks() {
            let y = window.y(tick);
            let _ = writeln!(svg, r#"  <path class="grid" d="M{left:.1} {y:.1}h{width:.1}"/>"#);
            let (x, y) = (left - 5.0, y + 3.5);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet small" x="{x:.1}" y="{y:.1}" text-anchor="end">{tick}</text>"#
            );
        }
        let ticks = window.across.ticks();
        for (number, tick) in ticks.iter().enumerate() {
            let (x, y) = (window.x(*tick), foot + 14.0);
            let what = match self.growth {
                Growth::Seconds => format!("{tick} s"),
                Growth::Tenfold(what) if number + 1 == ticks.len() => format!("{tick} {what}"),
                Growth::Tenfold(_) => tick.to_string(),
            };
            let _ = writeln!(
                svg,
                r#"  <text class="quiet small" x="{x:.1}" y="{y:.1}" text-anchor="middle">{what}</text>"#
            );
        }
    }
}
