/* topics.c -- technical terms that scripts do not use: what Selenite calls the thing, or that it
 * has none and what to use instead. See also docs/limits.md.
 */
#include "engine/app/arguments.h"

#include <string.h>

const sel_topic sel_topics[] = {
    /* geometry and grids */
    {"stl obj ply surface geometry",
     "shape.mesh { file = \"body.stl\", scale = 0.001 }: the inside of a surface of triangles in "
     "3-D, "
     "from .stl, .obj and .ply files (help shape.mesh). Or make the body of other shapes (help "
     "shape), of a function (help shape.inside), or of a picture (help shape.image)."},
    {"cad step iges",
     "These files are not read: export triangles as .stl, .obj or .ply from the CAD program (help "
     "shape.mesh)."},
    {"grid unstructured tetrahedra hexahedra gmsh snappyhexmesh blockmesh",
     "There is no mesh to make: the domain is a box of equal cells, size = { nx, ny[, nz] } of "
     "side "
     "dx. Unstructured meshes are not supported; shapes paint solids into the box (help shape)."},
    {"refinement amr octree adaptive stretching grading inflation boundary-layer",
     "Not supported: all cells are equal (in sel.heat and sel.poisson dx may differ by axis). Make "
     "the domain smaller, or the grid finer on GPUs or several ranks."},
    {"curved staircase bouzidi interpolation",
     "In sel.lbm law.wall { scheme = \"interpolated\" } puts a wall on the surface of its shape, "
     "of "
     "second order (help law.wall). Else walls follow the cells: a curved or slanted wall is a "
     "staircase, of first order. Take 20 or more cells across the body and compare two grids."},
    {"symmetry axisymmetric axisymmetry",
     "A plane of symmetry: law.slip in sel.lbm, law.insulated in sel.heat and sel.poisson, "
     "law.mirror in sel.rule. Axisymmetric coordinates are not supported, but in sel.rule as terms "
     "of your own."},
    {"cyclic periodicity translational",
     "periodic = { \"x\", \"y\", \"z\" }: any of the axes (help lbm)."},
    {"2d 3d dimension dimensions", "size = { nx, ny } is 2-D, size = { nx, ny, nz } 3-D."},
    {"rotating moving mrf sliding immersed fsi",
     "Bodies do not move through the grid. A wall whose surface moves, as a lid or a rotating "
     "cylinder: law.wall { velocity = function(x, y) ... } (help law.wall)."},
    {"porous porosity permeability darcy forchheimer brinkman tortuosity",
     "There is no porous medium in sel.lbm: make the grains solid, by "
     "shapes, a picture or a stack of pictures (help image); out.pores writes permeability and "
     "tortuosity (help pores). Darcy flow is sel.poisson with coefficient = permeability / "
     "viscosity."},
    /* flow */
    {"viscosity nu kinematic dynamic reynolds",
     "nu of sel.lbm, kinematic, or tau, or by Re in sel.units (help lbm, help units). `selenite "
     "check` prints the Reynolds number."},
    {"non-newtonian rheology bingham carreau power-law",
     "Not supported: the viscosity of sel.lbm is a number. In sel.rule you can write equations of "
     "your own."},
    {"turbulence les rans k-epsilon k-omega sst smagorinsky spalart wale",
     "Large eddies by smagorinsky = 0.1 to 0.2 in sel.lbm (help lbm). Models of averaged equations "
     "(k-epsilon, k-omega) and wall functions are not supported."},
    {"wall-function y+ yplus roughness-height",
     "Wall functions are not supported: the wall's cells must resolve the boundary layer, and the "
     "field y_plus of sel.lbm shows whether they do. For "
     "rough "
     "ground under runoff see help roughness. (y+ is also a face: shape.face \"y+\".)"},
    {"cfl courant timestep time-step", "dt of the solver. In sel.lbm velocities must stay below "
                                       "some 0.1 dx/dt; sel.heat takes 0.9 of "
                                       "its limit by itself and refuses more; sel.rule has dt = { "
                                       "limit = ..., max = ... } (help dt). "
                                       "`selenite check` prints the numbers."},
    {"mach compressible supersonic shock euler",
     "sel.lbm is weakly compressible: Mach numbers below 0.3, better 0.1. Compressible flow is not "
     "supported, but shallow water and other hyperbolic equations can be written in sel.rule "
     "(docs/rules.md)."},
    {"inflow inlet velocity-inlet", "law.velocity in sel.lbm; law.level and sources in sel.aqua "
                                    "(help law.velocity, help source)."},
    {"outlet pressure-outlet opening farfield far-field non-reflecting nonreflecting sponge "
     "absorbing",
     "law.pressure { 0 }; with absorbing = true, or as law.outflow, it lets vortices and sound "
     "out, "
     "and so does law.velocity with absorbing = true. law.far_field for the sides of a free stream "
     "(help law). Sponges are not supported."},
    {"no-slip noslip free-slip bounce-back", "law.wall; without friction law.slip (help law)."},
    {"drag lift cd cl torque strouhal",
     "out.force { region = \"NAME\" }: force, torque, and the coefficients by reference = { "
     "length, "
     "velocity, area } (help force). Mean, rms and the frequency are in run.json."},
    {"wall-shear-stress wss shear skin-friction wall-units traction",
     "The fields wall_shear, y_plus, wall_normal and wall_area of sel.lbm, also along a surface: "
     "out.wall { region = \"NAME\", field = { \"pressure\", \"wall_shear\", \"y_plus\" } } (help "
     "wall)."},
    {"pressure-drop flowrate flow-rate discharge massflow",
     "out.flux through a region, a line or a box (help flux); pressures by out.probe."},
    {"body-force gravity driving pressure-gradient force-density",
     "acceleration of sel.lbm: a force per mass, also a function of place and time (help lbm). "
     "Gravity does nothing else to a flow of one density."},
    {"multiphase two-phase bubble droplet vof level-set surface-tension cavitation",
     "Not supported: sel.lbm is one fluid. Phase fields can be written in sel.rule "
     "(docs/rules.md)."},
    {"free-surface sloshing dam-break waves",
     "A free surface is not supported in sel.lbm. Shallow water: an equation in sel.rule "
     "(scenarios/flood.lua); films and hollows of runoff: sel.aqua."},
    {"thermal buoyancy natural-convection boussinesq conjugate rayleigh temperature-coupling",
     "Flow and heat are not coupled: sel.lbm has no temperature, sel.heat no flow. A coupled "
     "equation can be written in sel.rule."},
    {"species concentration scalar tracer mixing advection transport reaction",
     "sel.lbm carries no scalars. Diffusion alone: sel.heat with diffusivity. Advection or "
     "reactions: sel.rule (docs/rules.md)."},
    {"particles discrete-element lagrangian sph spray",
     "Not supported. Streamlines and tracers can be drawn in ParaView from out.vtk."},
    {"steady-state simple piso steady",
     "stop = { steady = 1e-6 } ends a run that no longer changes (help stop). A steady state of "
     "conduction at once: sel.poisson."},
    {"wind building urban atmosphere",
     "sel.lbm in 3-D, buildings as boxes or shape.raster; the inlet's profile is a function in "
     "law.velocity. Wall functions and stratification are not supported."},
    /* runoff */
    {"roughness manning strickler chezy friction n",
     "sel.aqua has no friction coefficient: alpha and dt set how fast water moves (help aqua). "
     "Manning's law is in the rule of scenarios/flood.lua, n=0.03 sets it. Walls of "
     "sel.lbm "
     "are smooth."},
    {"river hydraulics channel-flow hec-ras critical froude weir culvert sewer",
     "sel.aqua is for films and hollows, not for rivers; there are no weirs, culverts or sewers, "
     "and no limit to critical flow. Shallow water with friction: scenarios/flood.lua, a rule."},
    {"rainfall precipitation storm hyetograph",
     "rain of sel.aqua in mm/h, a number, series, raster or function (help aqua)."},
    {"infiltration soil green-ampt curve-number losses",
     "infiltration of sel.aqua in mm/h, a quantity of x, y and t (help aqua); models of the soil "
     "are not built in: write them as a function of t."},
    {"hydrograph inflow-hydrograph",
     "sources of sel.aqua, discharge in m3/s, a number or sel.series (help source)."},
    {"dem dtm elevation terrain bathymetry lidar",
     "ground = sel.raster \"FILE\" in sel.aqua, size, dx and origin come from the file (help "
     "raster)."},
    {"groundwater aquifer seepage infiltration-model",
     "Steady: sel.poisson with coefficient = conductivity times thickness; in time: sel.heat with "
     "conductivity and capacity = storage. Unsaturated soil is not supported, but in sel.rule."},
    {"erosion sediment morphology bedload", "Not supported; sel.rule can hold such an equation."},
    /* heat and potentials */
    {"conduction fourier diffusion thermal-conductivity specific-heat heat-capacity rho-cp",
     "sel.heat: conductivity and capacity (density times specific heat), or diffusivity alone "
     "(help "
     "heat)."},
    {"dirichlet neumann robin boundary-condition bc",
     "law.fixed gives the value, law.flux the flux, law.convective h (ambient - T), law.insulated "
     "none, each at a region (help law)."},
    {"radiation emissivity stefan-boltzmann",
     "Not built in: a law.flux may be a function of place and time, not of the temperature. Take "
     "law.convective with h = 4 sigma epsilon T^3, or write it in sel.rule."},
    {"phase-change latent melting solidification stefan",
     "Not supported in sel.heat; the enthalpy method can be written in sel.rule."},
    {"joule source heat-source power", "source of sel.heat, per volume, a quantity (help heat)."},
    {"electrostatics potential laplace poisson charge", "sel.poisson (help poisson)."},
    {"eigenvalue modal frequency-domain helmholtz acoustics", "Not supported."},
    {"stress elasticity fem structural mechanics",
     "Mechanics of solids is not supported. (stress is a field of flows: help stress.)"},
    {"maxwell electromagnetics fdtd",
     "Not built in; an explicit scheme can be written in sel.rule."},
    {"implicit crank-nicolson backward-euler",
     "scheme = \"crank_nicolson\" or \"backward_euler\" of sel.heat (help heat). The other solvers "
     "step explicitly."},
    {"automaton automata life pde equation custom user-defined udf",
     "sel.rule: functions that give a cell's new values (help rule, docs/rules.md)."},
    /* units, data */
    {"si metre meter unit", "sel.units makes a lattice from lengths, velocities and viscosity in "
                            "SI (help units). Without dx and dt all is in lattice units."},
    {"csv excel spreadsheet timeseries time-series",
     "Read: sel.series \"FILE.csv\" (help series). Written: out.probe, out.profile, out.reduce, "
     "out.flux, out.force, out.balance."},
    {"geotiff tif tiff asc arcgis qgis gis geojson shapefile projection epsg crs",
     "Grids are read by sel.raster (.asc, .tif, others by libgdal; help raster) and written by "
     "out.grid. Shapefiles "
     "and "
     "GeoJSON are not read: burn them into a raster (gdal_rasterize), or give shape.polygon its "
     "points."},
    {"netcdf hdf5 nc h5 grib zarr",
     "Not written; out.vtk is read by ParaView and by Python (docs/python.md). Grids in netCDF "
     "(.nc) are read by sel.raster where libgdal is installed; convert others to GeoTIFF "
     "(gdal_translate)."},
    {"image png jpg picture bitmap mask", "Read as a shape: shape.image (PNG); as numbers: "
                                          "sel.raster. Written: out.picture (help picture)."},
    {"paraview vtk vti visualisation visualization visit plot",
     "out.vtk { fields = ... }: open NAME.pvd in ParaView (help vtk). Pictures without it: "
     "out.picture."},
    {"video animation movie gif mp4",
     "out.picture with every = N, then for example: ffmpeg -i NAME/NAME_%*.png film.mp4 (or "
     "-pattern_type glob). ParaView animates NAME.pvd."},
    {"average mean rms fluctuation statistics covariance reynolds-stress",
     "out.average over time, out.reduce over cells (help average, help reduce)."},
    {"streamline streamlines isosurface contour", "In ParaView, from out.vtk."},
    {"python numpy matplotlib pandas", "docs/python.md reads all outputs with numpy. There is no "
                                       "Python interface to the engine; scripts are Lua."},
    {"lua script scripting programming",
     "docs/guide.md and docs/tutorial.md; `selenite repl` to try lines."},
    {"parameter study parametric optimisation optimization",
     "sel.params and `selenite sweep` (help params, help sweep). Optimisers are not built in: run "
     "sweeps from a script of your own."},
    {"monitor probe sensor gauge", "out.probe { field, at } (help probe)."},
    {"spectrum spectra psd welch fft frequency",
     "out.spectrum { field, at } at points (help spectrum); out.force has the frequency of each "
     "component in run.json."},
    /* runs and machines */
    {"restart resume continue checkpoint hotstart hot-start",
     "out.checkpoint writes, `selenite run FILE --resume` goes on bit for bit (help checkpoint, "
     "help "
     "--resume). New laws from an old state: initial = sel.state \"DIR/checkpoint.sel\"."},
    {"convergence residual residuals tolerance",
     "Of flows and heat: stop.steady (help stop). Of sel.poisson: tolerance, and out.balance has "
     "the residuals."},
    {"divergence diverge diverged nan instability unstable blow-up",
     "The run ends with the place and hints. `selenite check` warns beforehand: the Mach number, "
     "tau, the Reynolds number of a cell. More cells or a larger viscosity help."},
    {"gpu cuda nvidia amd rocm opencl metal",
     "Taken by itself where there is an NVIDIA GPU and the build has CUDA; --backend cuda, "
     "--device N; `selenite info` tells. Other GPUs are not supported."},
    {"mpi parallel cluster slurm openmp threads multi-gpu nccl",
     "--threads N on one machine, --ranks N for several processes or GPUs (docs/clusters.md)."},
    {"windows macos mac wsl docker", "Linux only. On Windows take WSL 2; macOS is not supported. "
                                     "There is no image for containers."},
    {"f16 half fp16 mixed single double precision f32 f64",
     "precision = \"f32\" or \"f64\", or --precision (help --precision). Half precision is not "
     "supported."},
    {"memory ram vram size-limit",
     "`selenite check` prints the memory that a run takes, and what is free."},
    {"speed performance benchmark mlups",
     "`selenite bench` (help bench); each run prints Mcells/s."},
    {"accuracy validation verification error order",
     "`selenite validate` compares with exact and published results (help validate, "
     "docs/physics.md)."},
    {"license licence cite citation", "LICENSE in the folder of the program."},
    {"gui interface window interactive", "There is no window: scenarios are texts. `selenite repl` "
                                         "is a prompt; ParaView and PNG files show results."},
    {"limits limitations unsupported",
     "docs/limits.md: what Selenite does not do, and what to take instead."},
    {NULL, NULL},
};

bool sel_topic_has(const sel_topic *topic, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = topic->words; length; at++) {
        const size_t own = strcspn(at, " ");
        if (own == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += own;
        if (!*at) {
            break;
        }
    }
    return false;
}
