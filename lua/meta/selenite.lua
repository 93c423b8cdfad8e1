---@meta selenite
-- Generated from the engine's field lists by `make annotations`; do not edit.

---A number, a function whose parameters are any of x, y, z, t and the controls, or data.
---@alias selenite.quantity number|function|selenite.series|selenite.raster|selenite.paint

---A quantity per component, or one function that returns all components.
---@alias selenite.vector selenite.quantity[]|function

---Cells or face sites; `+` joins, `-` takes away, `*` keeps what both have.
---@class selenite.shape
---@field moved fun(shape: selenite.shape, by: selenite.shape.moved): selenite.shape
---@field rotated fun(shape: selenite.shape, by: selenite.shape.rotated): selenite.shape
---@field scaled fun(shape: selenite.shape, by: selenite.shape.scaled|number): selenite.shape
---@operator add(selenite.shape): selenite.shape
---@operator sub(selenite.shape): selenite.shape
---@operator mul(selenite.shape): selenite.shape

---Values over time: a quantity, and s(t) inside functions.
---@class selenite.series
---@overload fun(t: number): number

---Values over the x-y plane: a quantity, and r(x, y) inside functions.
---@class selenite.raster
---@field size integer[] columns and rows
---@field dx number size of a pixel
---@field origin number[] lower left corner
---@overload fun(x: number, y: number): number

---A lattice that sel.units made; a solver's field `units`.
---@class selenite.units
---@field dx number side of a cell
---@field dt number time step; where velocity or viscosity is known
---@field nu number kinematic viscosity; where it is known
---@field density number
---@field length number
---@field velocity number where it is known
---@field cells fun(lengths: number[]): integer[] cells along lengths; refuses parts of cells

---A quantity painted by shapes, in order.
---@class selenite.paint

---The default of a parameter, or a table of the default, a help text and what is allowed.
---@class (exact) selenite.parameter
---@field [1] number|string|boolean the default
---@field [2]? string help
---@field min? number smallest value
---@field max? number largest value
---@field choices? (number|string)[] the only values
---@field integer? boolean whole numbers only
---@field file? boolean the path of a file; the default is relative to the script

---What a hook gets: the run that it may look at and act on.
---@class (exact) selenite.run
---@field step integer steps done
---@field time number
---@field state table the script's own, kept between the calls of all hooks
---@field probe fun(run: selenite.run, field: string, at: number[]): number ... values there
---@field reduce fun(run: selenite.run, field: string, op: string): number ... over the cells
---@field force fun(run: selenite.run, name: string): number ... force, then torque
---@field set fun(run: selenite.run, control: string, value: number) changes a control
---@field result fun(run: selenite.run, name: string, value: number) for run.json
---@field stop fun(run: selenite.run, reason: string) ends the run
---@field log fun(run: selenite.run, text: string) a line on standard error

---Weakly compressible flow by the lattice Boltzmann method.
---@class (exact) selenite.sel.lbm
---@field name? string Name of the simulation; required and unique in a list.
---@field size integer[] Number of cells { nx, ny } or { nx, ny, nz }.
---@field dx? number Side of a cell; 1 (lattice units) when not given.
---@field dt? number Time step; 1 (lattice units) when not given.
---@field units? selenite.units A lattice made by sel.units: gives dx, dt, nu, density and the reference.
---@field origin? number[] Lower corner of the domain; zero when not given.
---@field periodic? ("x"|"y"|"z")[] Axes along which the domain is periodic: what leaves one face enters the opposite one.
---@field regions? selenite.region[] Solids and boundary conditions, painted in order: where regions overlap, the last one holds.
---@field controls? table<string, number> Numbers that functions of this scenario may name as arguments and hooks may change.
---@field reference? selenite.reference Scales for the Reynolds and Mach numbers and the flow-through time.
---@field stop selenite.stop When the run ends.
---@field output? selenite.out[] What is written: a list of out.* tables.
---@field hooks? selenite.hooks[] Functions that the run calls at regular steps or at its end.
---@field backend? "auto"|"cpu"|"cuda" What computes; auto: a GPU that can be used, else the CPU; --backend overrides it.
---@field threads? integer CPU threads; all cores when not given; --threads overrides it.
---@field precision? "f32"|"f64" Precision of the stored state; --precision overrides it.
---@field lattice "D2Q9"|"D3Q19" The set of velocities; its first number is the number of dimensions.
---@field nu? number Kinematic viscosity; nu or tau is required.
---@field tau? number Relaxation time in steps, above 1/2: nu = (tau - 1/2)/3 dx^2/dt.
---@field collision? "trt"|"bgk"|"regularized"|"recursive"|"hybrid" When not given hybrid, or with storage = "populations" trt. trt: two relaxation times; bgk: one, and walls move with the viscosity; regularized: one, and moments above the stress are dropped; recursive: the same, and third-order moments follow from these; hybrid: recursive, and a small part of the strain is that of the velocities around a cell, by far the most stable. Of the first three which is more stable depends on the flow: regularized allows a smaller viscosity in vortices and near an inlet in 3-D, trt in cavities and with a coarse body in a 2-D channel. Reynolds numbers of a cell, U dx / nu, above which check warns, between walls in 2-D and 3-D, with open faces in 2-D and 3-D: trt 13, 13, 5, 3; bgk 7, 7, 2, 1; regularized 10, 9, 22, 15; recursive 40, 20, 100, 100; hybrid 100, 25, 100, 100; twice as much ran 20,000 steps in a cavity, a duct and past a bar.
---@field storage? "auto"|"populations"|"moments" What a cell stores: populations, or their moments up to second order, which take half the memory and the time and which regularized, recursive and hybrid can do with; auto: moments where the operator allows it; --storage overrides it.
---@field magic? number Only for trt: (tau - 1/2) of the even moments times that of the odd ones. With 3/16 straight walls lie exactly on the faces.
---@field acceleration? selenite.vector Force per mass; zero when not given.
---@field drive? selenite.drive A mean velocity or a flow rate that is held; without it there is none.
---@field sponge? selenite.sponge A layer along faces in which waves fade; without it there is none.
---@field smagorinsky? number Constant C of Smagorinsky's eddy viscosity (C dx)^2 |S|, usually 0.1 to 0.2; without it there is no eddy viscosity.
---@field density? number Density of the fluid at pressure 0.
---@field initial? selenite.initial The flow at step 0; at rest when not given.

---A shape and the law that holds there; regions are painted in order.
---@class (exact) selenite.region
---@field where selenite.shape The cells or boundary faces that this region paints.
---@field law selenite.law What holds there.
---@field name? string Name for outputs and messages; region K when not given.

---No slip, by bounce-back: the wall lies on the face, or on the surface of the shape.
---@class (exact) selenite.law.wall
---@field velocity? selenite.vector Velocity of the wall, evaluated where each link meets the wall: at the middle of the link, or of an interpolated wall where the link enters the shape; at rest when not given.
---@field scheme? "halfway"|"zou_he"|"interpolated"|"auto"|"parabolic" halfway: half-way bounce-back; zou_he, on faces only: the wall lies at the centres of the first cells; interpolated: the wall lies on the surface of the shape, and on faces and where links meet no shape half-way; auto: interpolated, but half-way if all links meet the surface half-way or know none; parabolic: half-way, also where the velocity is a parabola, on faces and boxes with regularized, recursive and hybrid.

---An open face with a given velocity (Zou-He), or that lets sound out.
---@class (exact) selenite.law.velocity
---@field velocity? selenite.vector Velocity at the centres of the first cells, half a cell inside the face.
---@field [integer] selenite.quantity the components
---@field absorbing? boolean Lets sound out: the velocity along the normal is not held, but comes to what is given in some crossings of the domain by sound; the others are held.
---@field relaxation? number Fraction K, below 1, by which an absorbing inlet brings its velocity to what is given in a step; when not given, 0.25 c_s / L with L the number of cells of the domain along the normal and c_s = 1/sqrt 3. The difference falls by a factor e in 2 / K steps. A sound wave of the angular frequency w per step comes back with the fraction K / sqrt(K^2 + 4 w^2) of its amplitude.

---An open face with a given pressure (Zou-He), or that lets sound out.
---@class (exact) selenite.law.pressure
---@field pressure? selenite.quantity Gauge pressure at the centres of the first cells, half a cell inside the face; the velocity along the face is zero.
---@field [1]? selenite.quantity the same as pressure
---@field absorbing? boolean Lets sound and vortices out: the pressure is not held, but comes to what is given in some crossings of the domain by sound, and the velocity along the face is the flow's.
---@field relaxation? number Fraction K, below 1, by which an absorbing outlet brings its pressure to what is given in a step; when not given, 0.25 c_s / L with L the number of cells of the domain along the normal and c_s = 1/sqrt 3. The difference falls by a factor e in 2 / K steps. A sound wave of the angular frequency w per step comes back with the fraction K / sqrt(K^2 + 4 w^2) of its amplitude.

---An open face that lets vortices and sound out; it reflects 8 % of the slowest wave along its normal. The pressure returns to 0: it falls by a factor e while sound crosses the domain 8 times.
---@class (exact) selenite.law.outflow
---@field relaxation? number Fraction K, below 1, by which the pressure returns to 0 in a step; when not given, 0.25 c_s / L with L the number of cells of the domain along the normal and c_s = 1/sqrt 3. The pressure falls by a factor e in 2 / K steps. A sound wave of the angular frequency w per step comes back with the fraction K / sqrt(K^2 + 4 w^2) of its amplitude.

---A face within a free stream, of the given velocity and of pressure 0 far away: lets fluid in and out, and sound out. Such faces may meet one another and other open faces.
---@class (exact) selenite.law.far_field
---@field velocity? selenite.vector Velocity of the stream far away.
---@field [integer] selenite.quantity the components
---@field relaxation? number Fraction K, below 1, by which velocity and pressure come to those of the stream in a step; when not given, 0.25 c_s / L with L the number of cells of the domain along the normal and c_s = 1/sqrt 3. Differences fall by a factor e in 2 / K steps. A sound wave of the angular frequency w per step comes back with the fraction K / sqrt(K^2 + 4 w^2) of its amplitude.

---A plane of symmetry on the face: no flow through it, no friction on it.
---@class (exact) selenite.law.slip

---Scales of the flow, for dimensionless numbers.
---@class (exact) selenite.reference
---@field length? number Characteristic length: of the Reynolds number, and in 2-D of the coefficients of forces.
---@field velocity? number Characteristic velocity: of the Reynolds and Mach numbers, the flow-through time and the coefficients of forces.
---@field area? number Area of the coefficients of forces; in 2-D a length, and reference.length when not given.

---When a run ends: at the first condition met. `steps` and `time` end it at once, `steady` at the next test, or at the next check for divergence if that comes first.
---@class (exact) selenite.stop
---@field steps? integer Number of steps after which the run ends.
---@field time? number The run ends at the first step at or after this time.
---@field steady? number The run ends when the relative change of the main field (velocity, depth, temperature) between two tests is below this; that of temperatures is relative to the range that they have had in the run so far.
---@field every? integer Steps between two tests; when not given, reference.length / reference.velocity where reference gives both, else 1000.
---@field wall_time? number The run ends when it has taken this many seconds of wall time, set-up included; the last state is written and the exit status is 0.
---@field mean_change? number The run ends when the mean of the main field differs from the one a step before by at most this; checked every `every` steps.

---A function that looks at the run between steps and may act on it.
---@class (exact) selenite.hooks
---@field every? integer Steps between calls, from step 0 on; a call follows the outputs of its step.
---@field at? "end" "end": one call at the last step, before the last outputs; none when the run diverged.
---@field call fun(run: selenite.run) Called with the run: run.step, run.time, run.state (a table kept between calls), run:probe(field, { x, y }), run:reduce(field, op), run:force(name), run:set(control, value), run:result(name, value), run:stop(reason), run:log(text).

---Holds a mean velocity or a flow rate along a periodic axis by a uniform acceleration, which stands for a pressure gradient: -dp/dx = density times acceleration. The results of run.json have drive.acceleration, its last value, drive.acceleration_mean, its mean over the steps after from_step, and drive.velocity, the mean velocity of the fluid; out.balance has a column acceleration.
---@class (exact) selenite.drive
---@field velocity? number Mean velocity of the fluid along the axis.
---@field flow? number Volume of fluid per time through a cross-section of the domain; in 2-D per unit depth. It takes the place of velocity.
---@field axis "x"|"y"|"z" The axis of the flow, which must be periodic.
---@field every? integer Steps between changes of the acceleration; when not given a quarter of the cells along the longest axis, at least 20. A change takes as long as some 3 steps.
---@field from_step? integer The step from which on the mean acceleration is taken.

---A layer before faces in which waves and vortices fade: in each step a fraction of the difference from a given stream is taken away, which grows with the square of the depth. Of a pulse of sound that the face returns 2 % come back through a layer of 8 cells, 0.7 % through 20, 0.1 % through 40. out.balance has a column sponge, the mass that the layer has brought.
---@class (exact) selenite.sponge
---@field where selenite.shape The faces that the layer lies along: shape.face, or several joined by +.
---@field thickness number Depth of the layer from the face; at least 8 cells, best 20 to 50.
---@field velocity? selenite.vector Velocity that the layer holds, that of the stream; at rest when not given.
---@field pressure? number Gauge pressure that the layer holds.

---The flow at step 0, with the stresses that belong to its velocity.
---@class (exact) selenite.initial
---@field velocity? selenite.vector Velocity at the start; zero when not given.
---@field pressure? selenite.quantity Gauge pressure at the start; zero when not given.
---@field density? selenite.quantity Density at the start, instead of pressure.
---@field depth? selenite.quantity Depth of the water at step 0, m; dry when not given.
---@field temperature? selenite.quantity Temperature at step 0; 0 when not given.
---@field potential? selenite.quantity Potential to begin with; 0 when not given.

---Fields for ParaView, as cell data, with layout = "node" as point data: NAME.pvd, and NAME/NAME_STEP.vti for each time. They also hold solid (1 where nothing is computed), cell_type (k where region k painted the cell, else 0) and boundary (k in free cells at a boundary face of region k; the last of several).
---@class (exact) selenite.out.vtk
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field fields string|string[] Fields of the results (listed with each solver), or components such as velocity_x.
---@field within? selenite.shape A shape.box: only cells whose centres lie in it are written; all cells when not given.
---@field stride? integer Writes every stride-th cell along each axis, as a cell that is stride times as large.
---@field compression? "none"|"zlib" zlib makes files of smooth fields about three times smaller, those of turbulent fields hardly smaller.
---@field level? integer Level of zlib, 1 to 9; 1 when not given. Higher levels hardly help with floating-point numbers.
---@field precision? "run"|"f32"|"f64" Precision of the numbers in the file; run: that of the run.
---@field digits? integer Rounds to this number of significant decimal digits, so that zlib compresses more (f32 to 3 digits: files smaller by a third); all digits when not given.

---Fields at points, as NAME.csv with step,time,values: FIELD_x by component, _1 _2 by point.
---@class (exact) selenite.out.probe
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field field string|string[] Fields of the results (listed with each solver), or components such as velocity_x.
---@field at number[]|number[][] A point or a list of points. Values are interpolated linearly between the centres of cells that are not solid; beyond the outermost centre its value holds. A point in a solid is an error.

---Fields along a line, as NAME.csv with step,time,s,x,y,z,values: a row per sample and time. Values are interpolated as by out.probe, but in the half cell at a wall, where sel.lbm, sel.heat and sel.poisson know the value on it, linearly to the value on the wall, in sel.heat and sel.poisson also to that which follows from law.flux or law.convective; in solids they are 0.
---@class (exact) selenite.out.profile
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field field string|string[] Fields of the results (listed with each solver), or components such as velocity_x.
---@field from number[] Where the line begins.
---@field to number[] Where the line ends.
---@field points? integer Number of samples: the line is divided into equal parts, with a sample at the middle of each; its length / dx when not given. With layout = "node" the samples stand from end to end, as far apart as nodes when not given.

---One number per field over all cells that are not solid, as NAME.csv with step,time,values. The last values are also in the results of run.json, as NAME.FIELD.
---@class (exact) selenite.out.reduce
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field field string|string[] Fields of the results (listed with each solver), or components such as velocity_x; vectors by component.
---@field op "sum"|"min"|"max"|"mean"|"l2" How the values are combined; l2 is the root mean square. A NaN in any cell makes the result NaN.
---@field within? selenite.shape A shape.box: only cells whose centres lie in it count; all cells when not given.

---The balance of what the solver conserves (mass, water, heat), as NAME.csv with step,time and a column per term. The last values are also in the results of run.json, as NAME.TERM. `error` is the amount that appeared from nowhere, divided by the largest of the inflow, the outflow, the sources and the change of the amount in the domain: magnitudes, summed over the rows; of a flow, in which what enters and leaves through one region cancels, by its mass if they are no more than the round-off of it. If nothing came in, went out or came from sources, it is not divided, and has the unit of the conserved amount. For sel.poisson the residuals of all rows are drawn over the iterations, as NAME.png.
---@class (exact) selenite.out.balance
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.

---Force of the fluid on a region, as NAME.csv with step,time,force_x,force_y,torque (3-D: force_z, torque_x, torque_y, torque_z): the mean of the last two steps, at steps 0 and 1 that of the first step. The unit is density velocity^2 length^2; in 2-D it is per unit depth. With reference.velocity and reference.area (2-D: or reference.length) the file has also the coefficients cd = 2 force_x / (density velocity^2 area), and cl likewise with force_y. The results of run.json get statistics over the samples from from_step or from_time on, else over the second half of the run. Without a sample there are none, and a warning. For each component of force and torque and for cd and cl: NAME.force_x_mean, NAME.force_x_rms (of the deviation from the mean), NAME.force_x_min, NAME.force_x_max and the like. For each component of force and torque that oscillates: NAME.force_x_frequency and the like, the highest peak of the spectrum after the linear trend is removed, under a Hann window, refined by a parabola; with reference.length and reference.velocity also NAME.force_x_strouhal = frequency length / velocity. NAME.frequency and NAME.strouhal are those of force_y. A warning at the end tells where the force changes from step to step by more than 5 % of itself (rms).
---@class (exact) selenite.out.force
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step of the statistics; rows are written from step 0 on.
---@field from_time? number First time of the statistics, to leave out how the flow began; rows are written from step 0 on.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field region string Name of the region on which the fluid acts; regions of one name count together.
---@field centre? number[] Point about which the torque is taken; the origin of coordinates when not given.

---Fields along the surface of a region, as NAME.csv with step,time,x,y,z,values: at each time a row for each free cell beside the region, with its centre, in the order of the grid. For sel.lbm see pressure, wall_shear, y_plus, wall_normal, wall_area: the sum of wall_shear times wall_area is the friction on the region.
---@class (exact) selenite.out.wall
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field region string Name of a region, on cells or on faces; regions of one name count together.
---@field field string|string[] Fields of the results (listed with each solver), or components such as velocity_x.

---A flow rate, as NAME.csv with step,time,flux: give one of region, across and through. The last value is also in the results of run.json, as NAME.flux.
---@class (exact) selenite.out.flux
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field region? string Name of a region: the rate at which what the solver conserves leaves the domain through it (flow: mass per time, in 2-D per unit depth; runoff: m3/s). Positive out of the domain. Regions of one name count together.
---@field across? number[]|number[][] Two points { { x1, y1 }, { x2, y2 } } in 2-D: the volume per time and unit depth that crosses the line between them, the integral of velocity . normal (runoff: the discharge, m3/s; half of what flows through an end of the line). Positive to the left of the way from the first point to the second. In sel.heat and sel.poisson it integrates the field flux, the mean over the two faces of a cell: one or two cells from a surface it may be off by some per cent, while region is exact.
---@field through? selenite.shape A shape.box that is one cell thin along one axis: the volume per time (in 2-D: and unit depth) that flows through it. Positive along that axis. With layout = "node" nodes on the border of the domain count by the part of their face that lies inside.

---Mean and rms of fields over time, as NAME.vti, written at the end: for each field the arrays FIELD_mean and FIELD_rms, component by component; rms is that of the deviation from the mean; of `velocity` also turbulent_kinetic_energy, per mass: half the sum of its components' variances; with solid, cell_type and boundary, as out.vtk. A sample every 10 steps when neither every nor interval is given; without one there is no file, and a warning; from_step or from_time leaves out how the flow began. With `over` NAME.csv has the columns x, y, z as far as they are left, cells (those that are not solid), and for each component its mean, rms and covariances, and of `velocity` the energy.
---@class (exact) selenite.out.average
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field fields string|string[] Fields of the results (listed with each solver), or components such as velocity_x.
---@field products? string|string[] Products of two components of `fields`: "velocity_x*velocity_y" gives the array velocity_x_velocity_y_covariance, the mean product of the deviations from the means. Of velocities it is the Reynolds stress divided by minus the density.
---@field over? ("x"|"y"|"z")[] Axes along which means are taken, too, as a flow is the same along them on average: NAME.csv instead of NAME.vti, with a row for each place along the other axes. Deviations are those from the mean of the row. All cells count alike, solid ones do not.

---Power spectral densities of fields at points, as NAME.csv with frequency,densities, written at the end: columns as of out.probe, frequencies in cycles per unit of time. By Welch's method: Hann windows that overlap by half, the mean of each removed, zeros appended to a power of two. The integral over the frequency is the variance. A sample every 10 steps when neither every nor interval is given; what oscillates faster than half the rate of samples appears at lower frequencies. Of more than 1,048,576 samples every second one is dropped.
---@class (exact) selenite.out.spectrum
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field field string|string[] Fields of the results (listed with each solver), or components such as velocity_x.
---@field at number[]|number[][] A point or a list of points, as of out.probe.
---@field windows? integer Parts of the signal whose spectra are averaged. More of them scatter less, and tell frequencies less apart: their length is 2 / (windows + 1) of the samples.

---Darcy's law of a flow through pores, as NAME.csv with step,time and: darcy_velocity, the mean velocity along the axis over all cells, solid ones included; pore_velocity, that over the pores; driving_force, density acceleration - dp/dx, by the acceleration or drive and, but for the whole of a periodic axis, by the mean pressures of the first and the last layer of cells; permeability = nu density darcy_velocity / driving_force; tortuosity, the mean speed in the pores over pore_velocity; reynolds = darcy_velocity length / nu with the reference.length, say that of a grain, else with the root of the permeability. The last values are also in the results of run.json, as NAME.permeability and the like, with NAME.porosity and NAME.specific_surface, the area of solid cells beside pores per volume of the sample. A warning tells of a reynolds at the end so large that Darcy's law does not hold: above 1 with reference.length, else above 0.1.
---@class (exact) selenite.out.pores
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field axis "x"|"y"|"z" The axis of the flow.
---@field within? selenite.shape A shape.box, the sample of the porous body; the whole domain when not given.

---A field as NAME/NAME_STEP.png with a colour bar: the highest y at the top, linear between the centres of cells. Solids are grey, except volumes of law.fixed, which have its value; cells without data are blank. If several cells fall on a pixel, it shows one of them. The first of the two axes of a slice runs to the right, the second up.
---@class (exact) selenite.out.picture
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field field string A field of the results, a vector by its magnitude, or a component such as velocity_x.
---@field slice? selenite.slice The plane to show, required in 3-D: { z = 10 }, or x, or y. Values are interpolated linearly between the two layers of cells on either side of it, without solid cells.
---@field colours? "auto"|"deep"|"signed"|"grey"|"water" deep: dark blue over green to yellow; signed: blue, white at zero, red; grey; water: pale to dark blue; auto: signed where the field takes both signs or min = -max, else water over a relief and deep without.
---@field min? number Value of the first colour; the smallest of the picture when not given (signed: minus the largest magnitude).
---@field max? number Value of the last colour; the largest of the picture when not given. Give min and max for the frames of a film.
---@field scale? number Pixels per cell, along its shorter side; the longer side of the picture has about 1000 when not given.
---@field relief? string A field of heights, such as ground for a picture of depth. It is drawn as a grey surface lit from the north-west, and the picture's own field over it in translucent colours.
---@field above? number With relief: the field is drawn only where it is greater than this; 0 when not given.
---@field exaggeration? number With relief: factor by which its heights are multiplied; when not given, the one that makes the root mean square of the slopes one half, but at least 1.

---The plane that a picture of a 3-D field shows: one of x, y and z, in the scenario's units.
---@class (exact) selenite.slice
---@field x? number Plane of constant x.
---@field y? number Plane of constant y.
---@field z? number Plane of constant z.

---A field in two dimensions as NAME/NAME_STEP.asc or .tif, single precision, a value per cell; solid cells have none (NODATA, -9999).
---@class (exact) selenite.out.grid
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field field string A field of the results, a vector by its magnitude, or a component such as velocity_x.
---@field format? "asc"|"tif" asc: ESRI ASCII; tif: GeoTIFF. Both with the map projection, and the unit of coordinates, of the raster that the ground or a rule's data are made of: that of a .prj file goes into a .prj beside each .asc, or into the .tif; that of a .tif into a .tif only.

---The whole state of the run as NAME.sel, and the one before it as NAME.before.sel: `selenite run FILE --resume` continues it as if the run had not ended. It is also written at the end and, even without this output, when a run is interrupted. A run that has diverged writes none.
---@class (exact) selenite.out.checkpoint
---@field name? string Name of its files, unique among the outputs; the kind of output when not given.
---@field every? integer Steps from one writing to the next, from step 0 on. Without every and interval, fields are written at the end only, rows of CSV files every 100 steps.
---@field interval? number Time from one writing to the next, instead of every: the first step at or after each multiple of it is written.
---@field from_step? integer First step that is written; the last state is written in any case.
---@field from_time? number First time that is written; the last state is written in any case.
---@field at? "due"|"end" "end": only the last state is written; "due": as every or interval say.
---@field wall_time? number Seconds of wall time from one checkpoint to the next, instead of every; 600 when neither every nor interval is given.

---Surface runoff: films of water on slopes and hollows that fill, by the cellular automaton AQUA-GRAPH. For rivers and other deep water, where roughness matters, take scenarios/flood.lua.
---@class (exact) selenite.sel.aqua
---@field name? string Name of the simulation; required and unique in a list.
---@field size? integer[] Number of cells { nx, ny } or { nx, ny, nz }; the raster's when ground is one.
---@field dx? number Side of a cell; the raster's when ground is one, else 1 when not given.
---@field dt? number Time step; 1 when not given. Rain, infiltration and sources require it, in seconds.
---@field units? selenite.units A lattice made by sel.units: gives dx, dt, nu, density and the reference.
---@field origin? number[] Lower corner of the domain; zero when not given.
---@field periodic? ("x"|"y"|"z")[] Axes along which the domain is periodic: what leaves one face enters the opposite one.
---@field regions? selenite.region[] Solids and boundary conditions, painted in order: where regions overlap, the last one holds.
---@field controls? table<string, number> Numbers that functions of this scenario may name as arguments and hooks may change.
---@field reference? selenite.reference Scales for the Reynolds and Mach numbers and the flow-through time.
---@field stop selenite.stop When the run ends.
---@field output? selenite.out[] What is written: a list of out.* tables.
---@field hooks? selenite.hooks[] Functions that the run calls at regular steps or at its end.
---@field backend? "auto"|"cpu"|"cuda" What computes; auto: a GPU that can be used, else the CPU; --backend overrides it.
---@field threads? integer CPU threads; all cores when not given; --threads overrides it.
---@field precision? "f32"|"f64" Precision of the stored state; --precision overrides it.
---@field ground selenite.quantity Elevation of the ground, m. If it is made of a raster (by itself, painted over, or called by a function), cells without data are outside of the domain, and size, dx and origin are the raster's unless given. Rasters in feet or other lengths become metres.
---@field alpha selenite.quantity Relaxation, above 0 and at most 1: the fraction of the imbalance that moves in one step. Films, up to 3/4 of the fall from cell to cell deep, run down slopes at alpha dx/dt; deeper water only diffuses, with 3/4 alpha dx^2/dt. May depend on place.
---@field equilibrium? "fill"|"mean"|"mindiff" The level at which a cell would be in balance with its lower neighbours. fill: the common level of all their water; mean: the mean of their levels; mindiff: the level to which the cell's own water makes the differences smallest.
---@field scheme? "gather"|"scatter" gather: each cell sums what its neighbours exchange with it; scatter: each cell adds to its neighbours. The same water moves, summed in another order.
---@field min_head? number Differences of level up to this, m, do not move water.
---@field initial? selenite.initial The water at step 0; dry when not given.
---@field rain? selenite.quantity Rain, mm/h.
---@field infiltration? selenite.quantity Rate at which the soil takes up the water that lies on it, mm/h.
---@field sources? selenite.source[] Where water enters.
---@field nodata? selenite.law What holds along the outline of cells without data, the region "nodata" (without gaps nothing flows through it); a wall when not given.
---@field arrival_depth? number Depth, m, at which water counts as arrived, for arrival_time.
---@field depth_limit? number Greatest depth, m, that precision "f32" must hold; it determines the quantum of depth. When not given, the initial depth and the levels determine it.

---sel.aqua: water that reaches it leaves the domain.
---@class (exact) selenite.law.open
---@field slope? number Slope of the ground beyond the face; when not given, that between the last two cells, but the ground never rises. On cells: how far the water falls below their own ground, in units of dx; 0 when not given.

---sel.aqua: a lake or the sea at a given level, which takes and gives water.
---@class (exact) selenite.law.level
---@field z? selenite.quantity Level of the water there, m; it may depend on place, time and controls.
---@field [1]? selenite.quantity the same as z

---Water that enters at a place: a hydrograph.
---@class (exact) selenite.source
---@field name? string Name in the column inflow_NAME of out.balance, unlike those of the other sources; the number of the source when not given.
---@field at? number[] A point; the cell that holds it gets all of the water.
---@field where? selenite.shape A shape; its cells share the water equally.
---@field discharge selenite.quantity m3/s: a number, a series, or a function of t and controls.

---Conduction of heat, or diffusion: capacity T_t = div(conductivity grad T) + source, on 5 points in 2-D and 7 in 3-D.
---@class (exact) selenite.sel.heat
---@field name? string Name of the simulation; required and unique in a list.
---@field size integer[] Number of cells { nx, ny } or { nx, ny, nz }.
---@field dx? number|number[] Sides of a cell; 1 when not given.
---@field dt? number Time step; 0.9 of the largest one that is stable in the whole run when not given; a larger one than that is refused, unless the scheme is implicit.
---@field units? selenite.units A lattice made by sel.units: gives dx, dt, nu, density and the reference.
---@field origin? number[] Lower corner of the domain; zero when not given.
---@field periodic? ("x"|"y"|"z")[] Axes along which the domain is periodic: what leaves one face enters the opposite one.
---@field regions? selenite.region[] Solids and boundary conditions, painted in order: where regions overlap, the last one holds.
---@field controls? table<string, number> Numbers that functions of this scenario may name as arguments and hooks may change.
---@field reference? selenite.reference Scales for the Reynolds and Mach numbers and the flow-through time.
---@field stop selenite.stop When the run ends.
---@field output? selenite.out[] What is written: a list of out.* tables.
---@field hooks? selenite.hooks[] Functions that the run calls at regular steps or at its end.
---@field backend? "auto"|"cpu"|"cuda" What computes; auto: a GPU that can be used, else the CPU; --backend overrides it.
---@field threads? integer CPU threads; all cores when not given; --threads overrides it.
---@field precision? "f32"|"f64"|"auto" Precision of the stored state; --precision overrides it. auto: f32, or f64 where stop names more than 250,000 explicit steps, whose increments are too small for f32.
---@field scheme? "explicit"|"crank_nicolson"|"backward_euler" explicit: forward in time, dt limited; crank_nicolson (of second order in dt) and backward_euler (of first order): implicit, solved by multigrid in each step, for any dt. After a jump Crank-Nicolson oscillates if dt is far above the stable one; backward Euler never does.
---@field conductivity? selenite.vector Conductivity k, above 0; or one per axis. A face between cells that differ has the harmonic mean.
---@field diffusivity? selenite.vector k / capacity, instead of conductivity; or one per axis.
---@field capacity? selenite.quantity Heat capacity per volume (density times specific heat), above 0; 1 when not given.
---@field source? selenite.quantity Heat per volume and time that appears in the cells; 0 when not given.
---@field layout? "cell"|"node" cell: temperatures at the centres of cells; node: at nodes; the outer nodes lie on the boundary faces.
---@field initial? selenite.initial The temperature at step 0; 0 when not given.

---sel.heat: a given temperature of a surface, or of the nodes on it. sel.poisson: a given potential.
---@class (exact) selenite.law.fixed
---@field temperature? selenite.quantity Temperature of the surface.
---@field [1]? selenite.quantity the same as temperature
---@field value? selenite.vector The value; of a vector one for each component, or one for all.
---@field [integer] selenite.quantity the components
---@field at? "cell"|"face" cell: the value in the cells beyond a face; face: the value on the face itself, so that the cells beyond have twice the value minus the mirror image.

---sel.heat: a given heat flux. sel.poisson: coefficient dphi/dn, outward.
---@class (exact) selenite.law.flux
---@field flux? selenite.quantity Heat per area and time, positive into the domain.
---@field [1]? selenite.quantity the same as flux

---sel.heat, sel.poisson: nothing passes.
---@class (exact) selenite.law.insulated

---sel.heat: a surface cooled or heated by what flows past, h (ambient - T). sel.poisson: the same flux for the potential.
---@class (exact) selenite.law.convective
---@field ambient selenite.quantity Temperature of what flows past.
---@field h selenite.quantity Heat per area, time and difference from `ambient`.

---Poisson's equation: div(coefficient grad phi) = rhs, on 5 points in 2-D and 7 in 3-D, in double precision. The laws are those of sel.heat, phi for the temperature; a flux is c dphi/dn, outward.
---@class (exact) selenite.sel.poisson
---@field name? string Name of the simulation; required and unique in a list.
---@field size integer[] Number of cells { nx, ny } or { nx, ny, nz }.
---@field dx? number|number[] Sides of a cell; 1 when not given.
---@field units? selenite.units A lattice made by sel.units: gives dx, dt, nu, density and the reference.
---@field origin? number[] Lower corner of the domain; zero when not given.
---@field periodic? ("x"|"y"|"z")[] Axes along which the domain is periodic: what leaves one face enters the opposite one.
---@field regions? selenite.region[] Solids and boundary conditions, painted in order: where regions overlap, the last one holds.
---@field controls? table<string, number> Numbers that functions of this scenario may name as arguments and hooks may change.
---@field reference? selenite.reference Scales for the Reynolds and Mach numbers and the flow-through time.
---@field output? selenite.out[] What is written: a list of out.* tables.
---@field hooks? selenite.hooks[] Functions that the run calls at regular steps or at its end.
---@field backend? "auto"|"cpu"|"cuda" What computes; auto: a GPU that can be used, else the CPU; --backend overrides it.
---@field threads? integer CPU threads; all cores when not given; --threads overrides it.
---@field precision? "f32"|"f64" Precision of the stored state; --precision overrides it.
---@field tolerance? number The iteration ends when the residual is at most this fraction of the right-hand side, boundary values included, or when round-off keeps it from falling.
---@field max_iterations? integer Number of iterations after which the run gives up, with exit status 3. When not given: 100 cycles of multigrid (1,000 where coefficients of neighbours differ by more than 30); for the other methods what they need on this grid.
---@field rhs selenite.quantity Right-hand side.
---@field coefficient? selenite.vector Coefficient c, above 0, 1 when not given; or one per axis. A face between cells that differ has the harmonic mean.
---@field method? "multigrid"|"jacobi"|"gauss_seidel"|"sor"|"conjugate_gradient" multigrid: each iteration is a cycle, and takes about nine tenths off the residual on any grid; conjugate_gradient and sor need iterations in proportion to the number of cells along an axis; jacobi and gauss_seidel to its square.
---@field layout? "cell"|"node" cell: the potential at the centres of cells; node: at nodes; the outer nodes lie on the boundary faces.
---@field initial? selenite.initial The potential to begin with; 0 when not given.

---Your own automaton or equations: named fields, and functions that compute the new values of a cell from those around it.
---@class (exact) selenite.sel.rule
---@field name? string Name of the simulation; required and unique in a list.
---@field size integer[] Number of cells { nx, ny } or { nx, ny, nz }.
---@field dx? number Side of a cell; 1 when not given.
---@field dt? number|selenite.dt Time step, or how it adapts; 1 when not given.
---@field units? selenite.units A lattice made by sel.units: gives dx, dt, nu, density and the reference.
---@field origin? number[] Lower corner of the domain; zero when not given.
---@field periodic? ("x"|"y"|"z")[] Axes along which the domain is periodic: what leaves one face enters the opposite one.
---@field regions? selenite.region[] Solids and boundary conditions, painted in order: where regions overlap, the last one holds.
---@field controls? table<string, number> Numbers that functions of this scenario may name as arguments and hooks may change.
---@field reference? selenite.reference Scales for the Reynolds and Mach numbers and the flow-through time.
---@field stop selenite.stop When the run ends.
---@field output? selenite.out[] What is written: a list of out.* tables.
---@field hooks? selenite.hooks[] Functions that the run calls at regular steps or at its end.
---@field backend? "auto"|"cpu"|"cuda" What computes; auto: a GPU that can be used, else the CPU; --backend overrides it.
---@field threads? integer CPU threads; all cores when not given; --threads overrides it.
---@field precision? "f32"|"f64" Precision of the stored state; --precision overrides it.
---@field state table<string, "real"|"vector"|"i32"|"u8"> What rules change: { NAME = type }. Reals have the precision of the run; a vector V is V_x, V_y (V_z) in rules.
---@field rule function|function[] A function of any of c, x, y, z, t, dt and the controls that returns the new values of a cell, { NAME = value, ... }; or several that run in order in each step.
---@field data? table<string, selenite.quantity|selenite.vector> Fields that rules read but do not change; those that depend on t or a control are evaluated before each step.
---@field derived? table<string, function> Fields that are computed when they are needed; a vector returns its components.
---@field initial? table<string, selenite.quantity|selenite.vector> The state at step 0; 0 when not given.
---@field conserved? string|string[] Fields that out.balance adds up: NAME_sum is the sum over all cells, NAME its change since step 0.
---@field main? string The field that stop.steady watches; required there if there are several.
---@field nodata? selenite.law|table<string, selenite.law> Law where a raster in data has no value; wall when not given.
---@field seed? integer Seed of sel.random.
---@field exact? boolean Whether reals are computed without contraction, so that all backends give the same bits.

---A step that adapts: `factor` times the smallest `limit` of all cells, but at most `max`.
---@class (exact) selenite.dt
---@field max number The largest step.
---@field limit function The largest step that a cell allows, a function as of a rule.
---@field factor? number The fraction of the smallest limit of all cells that is taken.
---@field every? integer Number of steps after which dt is found again.

---sel.rule: the cells beyond the face have the mirror image.
---@class (exact) selenite.law.mirror

---sel.rule: a given derivative across the face: the mirror image plus the derivative times the distance.
---@class (exact) selenite.law.gradient
---@field value? selenite.vector The outward derivative; of a vector one for each component, or one for all.
---@field [integer] selenite.quantity the components

---The cells whose centres lie in min <= x < max.
---@class (exact) selenite.shape.box
---@field min number[] Lower corner.
---@field max number[] Upper corner.

---A ball; a disc in 2-D.
---@class (exact) selenite.shape.ball
---@field centre number[] Its centre.
---@field radius number Its radius.

---An ellipsoid along the axes; an ellipse in 2-D.
---@class (exact) selenite.shape.ellipsoid
---@field centre number[] Its centre.
---@field radii number[] Half its length along each axis.

---A cylinder between two points; a disc in 2-D.
---@class (exact) selenite.shape.cylinder
---@field from? number[] One end of the axis (3-D).
---@field to? number[] The other end of the axis (3-D).
---@field centre? number[] Its centre (2-D).
---@field radius number Its radius.

---A cone, or a part of one, between two points; in 2-D its section, a trapezium.
---@class (exact) selenite.shape.cone
---@field from number[] One end of the axis.
---@field to number[] The other end of the axis.
---@field radii number[] Its radii at from and at to; 0 is a tip.

---A torus; in 2-D a ring.
---@class (exact) selenite.shape.torus
---@field centre number[] Its centre.
---@field axis? number[] The direction of its axis (3-D); z when not given.
---@field radius number From its centre to the middle of the tube.
---@field tube number The radius of the tube, at most that of the torus.

---The inside of a polygon in the x-y plane.
---@class (exact) selenite.shape.polygon
---@field points number[]|number[][] Corners { x, y } in order; the last is joined to the first.

---Where a function of place is true.
---@class (exact) selenite.shape.inside
---@field test? function Function of x, y, z that is true inside.
---@field [1]? function the same as test

---The dark pixels of pictures, or the cells that an array marks; it covers the domain.
---@class (exact) selenite.shape.image
---@field file? string A picture (.png) with a pixel for each cell, the top row first; in 3-D one for each plane along z, plane_%03d.png, numbered from 0 or 1. Or an array (.npy, .raw, .vti) with a number for each cell, the lowest x, y and z first. A path relative to the script.
---@field [1]? string the same as file
---@field threshold? number Pixels darker than this are inside: 0 is black, 1 is white. Of an array, numbers less than this.
---@field invert? boolean The other cells are inside instead.
---@field size? integer[] Of a .raw file: how many numbers it has along x, y and z; x is the fastest.
---@field type? "uint8"|"int8"|"uint16"|"int16"|"uint32"|"int32"|"uint64"|"int64"|"float32"|"float64" Of a .raw file: the type of its numbers, the lowest byte first.
---@field array? string Of a .vti file: the name of the array; the only one when not given.

---Where a raster is above a value; nowhere outside of the raster.
---@class (exact) selenite.shape.raster
---@field raster selenite.raster A raster made by sel.raster.
---@field above number Inside is where the raster is greater than this.

---The inside of a surface of triangles, in 3-D. Holes are closed by fans of triangles, parts that overlap are one.
---@class (exact) selenite.shape.mesh
---@field file? string The triangles of its surface (.stl, .obj, .ply); a path relative to the script.
---@field [1]? string the same as file
---@field scale? number Multiplies the coordinates of the file, after `rotate`: 0.001 makes metres of millimetres.
---@field offset? number[] Is added to the scaled coordinates.
---@field rotate? selenite.rotate Turns the coordinates of the file.

---A rotation of the coordinates of a mesh about an axis.
---@class (exact) selenite.rotate
---@field angle number In radians, counter-clockwise seen from the tip of the axis; in 2-D from x to y.
---@field axis? number[] The direction of the axis; required in 3-D, none in 2-D.
---@field about? number[] A point on the axis; the origin of the coordinates when not given.

---A shape of cells somewhere else: the same shape, moved.
---@class (exact) selenite.shape.moved
---@field by? number[] How far along each axis.
---@field [integer] number the same as by

---A shape of cells, turned about an axis.
---@class (exact) selenite.shape.rotated
---@field angle number In radians, counter-clockwise seen from the tip of the axis; in 2-D from x to y.
---@field axis? number[] The direction of the axis; required in 3-D, none in 2-D.
---@field about? number[] A point on the axis; the origin of the coordinates when not given.

---A shape of cells, larger or smaller.
---@class (exact) selenite.shape.scaled
---@field factor? number How many times larger.
---@field [1]? number the same as factor
---@field about? number[] The point that stays; the origin of the coordinates when not given.

---A lattice from numbers in SI, or in any other consistent units: gives dx, dt, nu, density, length and velocity, as far as they are known, and cells { Lx, Ly }, the number of cells along lengths. For the field `units` of a solver.
---@class (exact) selenite.sel.units
---@field length number A length of the flow, m: the one in the Reynolds number; `cells` cells long.
---@field cells integer Cells along that length: dx = length / cells.
---@field velocity? number A velocity of the flow, m/s; from Re and viscosity when not given: Re viscosity / length.
---@field lattice_velocity? number That velocity in cells per step: dt = lattice_velocity dx / velocity; 0.05 when not given. Where no velocity is known dt = 0.1 dx^2 / viscosity (tau 0.8).
---@field density? number Density of the fluid, kg/m3; 1 when not given.
---@field viscosity? number Kinematic viscosity, m2/s; from Re and velocity when not given: velocity length / Re.
---@field Re? number Reynolds number velocity length / viscosity, instead of one of the two.

---A quantity over time, given at points; s(t) inside functions.
---@class (exact) selenite.sel.series
---@field file? string A CSV file: times in the first column, numbers or dates such as 2024-05-31T12:30, which count in seconds since the first; a path relative to the script.
---@field [1]? string the same as file
---@field t? number[] Times, instead of a file.
---@field value? number[] One value for each time of t.
---@field column? string|integer The column of the values, by its name or its number from 1; the second when not given.
---@field scale? number Multiplies the values.
---@field time_scale? number Multiplies the times.
---@field interpolation? "linear"|"previous" Between two points: along the line, or the value of the one before.
---@field repeats? boolean Start again at the first point after the last one, also before the first.
---@field outside? "error"|"hold"|"zero" Before the first and after the last time, unless it repeats: an error, the nearest value, or zero.

---A quantity over the x-y plane, read from a grid or a picture whose first row is the northernmost; r(x, y) inside functions. It has .size, .dx and .origin, the lower left corner.
---@class (exact) selenite.sel.raster
---@field file? string A grid (.asc: ESRI ASCII, .tif: GeoTIFF; where libgdal is installed .hgt, .nc, .vrt, .bil and .flt too), or a picture (.png) with values from 0 (black) to 1 (white); a path relative to the script.
---@field [1]? string the same as file
---@field scale? number Multiplies the values of the file; when not given 1, or the metres in the file's unit of heights where lengths become metres.
---@field offset? number Is added to the scaled values.
---@field nodata? number The value of the file that marks cells without data; when not given, the one that the file declares.
---@field fill? number The value of cells without data, not scaled; when not given, a quantity that needs a value there is an error.
---@field metres? boolean Turns the coordinates of the file, and values whose unit is a length, into metres as soon as it is read. sel.aqua does so by itself with rasters whose .dx, .origin and values the script has not read before.

---The fields in a checkpoint, as `initial` of a new run: sel.state "run/checkpoint.sel". From another grid they are taken at the same places: linear between the centres of cells that are not solid, constant beyond the last ones. Where cells were solid, those of the nearest cell that was not are taken, and a warning has their number; sel.paint { state.temperature, { shape, value } } gives others. Fields of a 2-D run are constant along z; a 2-D run takes none of a 3-D one.
---@class (exact) selenite.sel.state
---@field file? string A checkpoint (.sel) of a run of the same solver, relative to the script.
---@field [1]? string the same as file

---What holds on a region of sel.lbm.
---@class selenite.law

---@class (exact) selenite.law.module
---@field wall fun(fields: selenite.law.wall): selenite.law No slip, by bounce-back: the wall lies on the face, or on the surface of the shape.
---@field velocity fun(fields: selenite.law.velocity|selenite.quantity): selenite.law An open face with a given velocity (Zou-He), or that lets sound out.
---@field pressure fun(fields: selenite.law.pressure|selenite.quantity): selenite.law An open face with a given pressure (Zou-He), or that lets sound out.
---@field outflow fun(fields: selenite.law.outflow): selenite.law An open face that lets vortices and sound out; it reflects 8 % of the slowest wave along its normal. The pressure returns to 0: it falls by a factor e while sound crosses the domain 8 times.
---@field far_field fun(fields: selenite.law.far_field|selenite.quantity): selenite.law A face within a free stream, of the given velocity and of pressure 0 far away: lets fluid in and out, and sound out. Such faces may meet one another and other open faces.
---@field slip fun(fields: selenite.law.slip): selenite.law A plane of symmetry on the face: no flow through it, no friction on it.
---@field open fun(fields: selenite.law.open): selenite.law sel.aqua: water that reaches it leaves the domain.
---@field level fun(fields: selenite.law.level|selenite.quantity): selenite.law sel.aqua: a lake or the sea at a given level, which takes and gives water.
---@field fixed fun(fields: selenite.law.fixed|selenite.quantity): selenite.law sel.heat: a given temperature of a surface, or of the nodes on it. sel.poisson: a given potential.
---@field flux fun(fields: selenite.law.flux|selenite.quantity): selenite.law sel.heat: a given heat flux. sel.poisson: coefficient dphi/dn, outward.
---@field insulated fun(fields: selenite.law.insulated): selenite.law sel.heat, sel.poisson: nothing passes.
---@field convective fun(fields: selenite.law.convective): selenite.law sel.heat: a surface cooled or heated by what flows past, h (ambient - T). sel.poisson: the same flux for the potential.
---@field mirror fun(fields: selenite.law.mirror): selenite.law sel.rule: the cells beyond the face have the mirror image.
---@field gradient fun(fields: selenite.law.gradient|selenite.quantity): selenite.law sel.rule: a given derivative across the face: the mirror image plus the derivative times the distance.

---What a run writes. The last state is always written.
---@class selenite.out

---@class (exact) selenite.out.module
---@field vtk fun(fields: selenite.out.vtk): selenite.out Fields for ParaView, as cell data, with layout = "node" as point data: NAME.pvd, and NAME/NAME_STEP.vti for each time. They also hold solid (1 where nothing is computed), cell_type (k where region k painted the cell, else 0) and boundary (k in free cells at a boundary face of region k; the last of several).
---@field probe fun(fields: selenite.out.probe): selenite.out Fields at points, as NAME.csv with step,time,values: FIELD_x by component, _1 _2 by point.
---@field profile fun(fields: selenite.out.profile): selenite.out Fields along a line, as NAME.csv with step,time,s,x,y,z,values: a row per sample and time. Values are interpolated as by out.probe, but in the half cell at a wall, where sel.lbm, sel.heat and sel.poisson know the value on it, linearly to the value on the wall, in sel.heat and sel.poisson also to that which follows from law.flux or law.convective; in solids they are 0.
---@field reduce fun(fields: selenite.out.reduce): selenite.out One number per field over all cells that are not solid, as NAME.csv with step,time,values. The last values are also in the results of run.json, as NAME.FIELD.
---@field balance fun(fields: selenite.out.balance): selenite.out The balance of what the solver conserves (mass, water, heat), as NAME.csv with step,time and a column per term. The last values are also in the results of run.json, as NAME.TERM. `error` is the amount that appeared from nowhere, divided by the largest of the inflow, the outflow, the sources and the change of the amount in the domain: magnitudes, summed over the rows; of a flow, in which what enters and leaves through one region cancels, by its mass if they are no more than the round-off of it. If nothing came in, went out or came from sources, it is not divided, and has the unit of the conserved amount. For sel.poisson the residuals of all rows are drawn over the iterations, as NAME.png.
---@field force fun(fields: selenite.out.force): selenite.out Force of the fluid on a region, as NAME.csv with step,time,force_x,force_y,torque (3-D: force_z, torque_x, torque_y, torque_z): the mean of the last two steps, at steps 0 and 1 that of the first step. The unit is density velocity^2 length^2; in 2-D it is per unit depth. With reference.velocity and reference.area (2-D: or reference.length) the file has also the coefficients cd = 2 force_x / (density velocity^2 area), and cl likewise with force_y. The results of run.json get statistics over the samples from from_step or from_time on, else over the second half of the run. Without a sample there are none, and a warning. For each component of force and torque and for cd and cl: NAME.force_x_mean, NAME.force_x_rms (of the deviation from the mean), NAME.force_x_min, NAME.force_x_max and the like. For each component of force and torque that oscillates: NAME.force_x_frequency and the like, the highest peak of the spectrum after the linear trend is removed, under a Hann window, refined by a parabola; with reference.length and reference.velocity also NAME.force_x_strouhal = frequency length / velocity. NAME.frequency and NAME.strouhal are those of force_y. A warning at the end tells where the force changes from step to step by more than 5 % of itself (rms).
---@field wall fun(fields: selenite.out.wall): selenite.out Fields along the surface of a region, as NAME.csv with step,time,x,y,z,values: at each time a row for each free cell beside the region, with its centre, in the order of the grid. For sel.lbm see pressure, wall_shear, y_plus, wall_normal, wall_area: the sum of wall_shear times wall_area is the friction on the region.
---@field flux fun(fields: selenite.out.flux): selenite.out A flow rate, as NAME.csv with step,time,flux: give one of region, across and through. The last value is also in the results of run.json, as NAME.flux.
---@field average fun(fields: selenite.out.average): selenite.out Mean and rms of fields over time, as NAME.vti, written at the end: for each field the arrays FIELD_mean and FIELD_rms, component by component; rms is that of the deviation from the mean; of `velocity` also turbulent_kinetic_energy, per mass: half the sum of its components' variances; with solid, cell_type and boundary, as out.vtk. A sample every 10 steps when neither every nor interval is given; without one there is no file, and a warning; from_step or from_time leaves out how the flow began. With `over` NAME.csv has the columns x, y, z as far as they are left, cells (those that are not solid), and for each component its mean, rms and covariances, and of `velocity` the energy.
---@field spectrum fun(fields: selenite.out.spectrum): selenite.out Power spectral densities of fields at points, as NAME.csv with frequency,densities, written at the end: columns as of out.probe, frequencies in cycles per unit of time. By Welch's method: Hann windows that overlap by half, the mean of each removed, zeros appended to a power of two. The integral over the frequency is the variance. A sample every 10 steps when neither every nor interval is given; what oscillates faster than half the rate of samples appears at lower frequencies. Of more than 1,048,576 samples every second one is dropped.
---@field pores fun(fields: selenite.out.pores): selenite.out Darcy's law of a flow through pores, as NAME.csv with step,time and: darcy_velocity, the mean velocity along the axis over all cells, solid ones included; pore_velocity, that over the pores; driving_force, density acceleration - dp/dx, by the acceleration or drive and, but for the whole of a periodic axis, by the mean pressures of the first and the last layer of cells; permeability = nu density darcy_velocity / driving_force; tortuosity, the mean speed in the pores over pore_velocity; reynolds = darcy_velocity length / nu with the reference.length, say that of a grain, else with the root of the permeability. The last values are also in the results of run.json, as NAME.permeability and the like, with NAME.porosity and NAME.specific_surface, the area of solid cells beside pores per volume of the sample. A warning tells of a reynolds at the end so large that Darcy's law does not hold: above 1 with reference.length, else above 0.1.
---@field picture fun(fields: selenite.out.picture): selenite.out A field as NAME/NAME_STEP.png with a colour bar: the highest y at the top, linear between the centres of cells. Solids are grey, except volumes of law.fixed, which have its value; cells without data are blank. If several cells fall on a pixel, it shows one of them. The first of the two axes of a slice runs to the right, the second up.
---@field grid fun(fields: selenite.out.grid): selenite.out A field in two dimensions as NAME/NAME_STEP.asc or .tif, single precision, a value per cell; solid cells have none (NODATA, -9999).
---@field checkpoint fun(fields: selenite.out.checkpoint): selenite.out The whole state of the run as NAME.sel, and the one before it as NAME.before.sel: `selenite run FILE --resume` continues it as if the run had not ended. It is also written at the end and, even without this output, when a run is interrupted. A run that has diverged writes none.

---@class (exact) selenite.shape.module
---@field box fun(fields: selenite.shape.box): selenite.shape The cells whose centres lie in min <= x < max.
---@field ball fun(fields: selenite.shape.ball): selenite.shape A ball; a disc in 2-D.
---@field ellipsoid fun(fields: selenite.shape.ellipsoid): selenite.shape An ellipsoid along the axes; an ellipse in 2-D.
---@field cylinder fun(fields: selenite.shape.cylinder): selenite.shape A cylinder between two points; a disc in 2-D.
---@field cone fun(fields: selenite.shape.cone): selenite.shape A cone, or a part of one, between two points; in 2-D its section, a trapezium.
---@field torus fun(fields: selenite.shape.torus): selenite.shape A torus; in 2-D a ring.
---@field polygon fun(fields: selenite.shape.polygon): selenite.shape The inside of a polygon in the x-y plane.
---@field inside fun(fields: selenite.shape.inside|selenite.quantity): selenite.shape Where a function of place is true.
---@field image fun(fields: selenite.shape.image|string): selenite.shape The dark pixels of pictures, or the cells that an array marks; it covers the domain.
---@field raster fun(fields: selenite.shape.raster): selenite.shape Where a raster is above a value; nowhere outside of the raster.
---@field mesh fun(fields: selenite.shape.mesh|string): selenite.shape The inside of a surface of triangles, in 3-D. Holes are closed by fans of triangles, parts that overlap are one.
---@field face fun(name: "x-"|"x+"|"y-"|"y+"|"z-"|"z+"): selenite.shape The sites of one face of the domain.
---@field faces selenite.shape All boundary faces, except on periodic sides.
---@field rest selenite.shape The face sites that nothing before painted.

---What a solver's constructor returns: the table that it got, to be returned by the script.
---@class selenite.simulation

---@class (exact) selenite.library
---@field lbm fun(fields: selenite.sel.lbm): selenite.simulation Weakly compressible flow by the lattice Boltzmann method.
---@field aqua fun(fields: selenite.sel.aqua): selenite.simulation Surface runoff: films of water on slopes and hollows that fill, by the cellular automaton AQUA-GRAPH. For rivers and other deep water, where roughness matters, take scenarios/flood.lua.
---@field heat fun(fields: selenite.sel.heat): selenite.simulation Conduction of heat, or diffusion: capacity T_t = div(conductivity grad T) + source, on 5 points in 2-D and 7 in 3-D.
---@field poisson fun(fields: selenite.sel.poisson): selenite.simulation Poisson's equation: div(coefficient grad phi) = rhs, on 5 points in 2-D and 7 in 3-D, in double precision. The laws are those of sel.heat, phi for the temperature; a flux is c dphi/dn, outward.
---@field rule fun(fields: selenite.sel.rule): selenite.simulation Your own automaton or equations: named fields, and functions that compute the new values of a cell from those around it.
---@field units fun(fields: selenite.sel.units): selenite.units A lattice from numbers in SI, or in any other consistent units: gives dx, dt, nu, density, length and velocity, as far as they are known, and cells { Lx, Ly }, the number of cells along lengths. For the field `units` of a solver.
---@field series fun(fields: selenite.sel.series|string): selenite.series A quantity over time, given at points; s(t) inside functions.
---@field raster fun(fields: selenite.sel.raster|string): selenite.raster A quantity over the x-y plane, read from a grid or a picture whose first row is the northernmost; r(x, y) inside functions. It has .size, .dx and .origin, the lower left corner.
---@field state fun(fields: selenite.sel.state|string): table The fields in a checkpoint, as `initial` of a new run: sel.state "run/checkpoint.sel". From another grid they are taken at the same places: linear between the centres of cells that are not solid, constant beyond the last ones. Where cells were solid, those of the nearest cell that was not are taken, and a warning has their number; sel.paint { state.temperature, { shape, value } } gives others. Fields of a 2-D run are constant along z; a 2-D run takes none of a 3-D one.
---@field law selenite.law.module
---@field out selenite.out.module
---@field shape selenite.shape.module
local sel = {}

---Declares what the command line may set as name=value, and returns the values.
---@param declared table<string, number|string|boolean|selenite.parameter>
---@return table<string, any> values read-only; other names are errors
function sel.params(declared) end

---A quantity painted in order: a base, then { shape, quantity } over it.
---@param layers (selenite.quantity|table)[]
---@return selenite.paint
function sel.paint(layers) end

---Uniform in [0, 1); depends on seed, cell, step and the whole number k only; in rules and in `initial` of sel.rule.
---@param k integer
---@return number
function sel.random(k) end

---Smooth noise in [-1, 1] that varies over a distance of about 1; the same on every machine.
---@param seed number
---@param x number
---@param y? number
---@param z? number
---@return number
function sel.noise(seed, x, y, z) end

---0 where x is below 0, else 1: for numbers, and inside functions.
---@param x number
---@return number
function sel.step(x) end

---Rises smoothly from 0 at t = 0 to 1 at t = T, and stays there: s^2 (3 - 2 s), s = t/T.
---@param t number
---@param T number above 0
---@return number
function sel.ramp(t, T) end

---The editable table of another scenario, or the list of them.
---@param path string relative to this script
---@param values? table<string, number|string|boolean> for its sel.params
---@return table simulation
function sel.load(path, values) end

return sel
